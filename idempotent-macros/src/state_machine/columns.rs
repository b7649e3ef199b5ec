//! The tokens of the columns and tables, each at the word by which the user names it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::expand::option;
use super::machine::Machine;

/// `Columns { … }`, each asked for at the user's own word, where the compiler shows what is wrong with it.
pub(super) fn expand_columns(machine: &Machine<'_>, private: &TokenStream) -> TokenStream {
    let args = machine.args;
    let table = args.table.as_ref();
    let of_type = |kind: &str, column: Option<&Ident>| {
        let (table, column) = (table?, column?);
        let kind = Ident::new(kind, column.span());
        // In braces, so that it stands at the column and not from the table on.
        Some(quote_spanned!(column.span()=> #private::#kind(&{ #table::columns::#column })))
    };
    let state = of_type("state_column", args.column.as_ref()).unwrap_or_else(|| quote!(""));
    let id = table.zip(args.id.as_ref()).map_or_else(|| quote!(""), |(table, id)| column_name(table, id, private));
    let version = option(of_type("number_column", args.version.as_ref()));
    let entered = option(of_type("number_column", args.entered.as_ref()));
    let key = option(of_type("state_column", args.key.as_ref()));
    let history = args.history.as_ref().map(|history| column_name(history, &history_id(machine, history), private));
    let history_id = history.unwrap_or_else(|| quote!("row_id"));
    let has_history = args.history.is_some();
    quote!(#private::Columns {
        state: #state,
        id: #id,
        version: #version,
        entered: #entered,
        key: #key,
        history: #has_history,
        history_id: #history_id,
    })
}

/// The name in SQL of a column, found as a type, so that one that does not exist is named once.
fn column_name(table: &Path, column: &Ident, private: &TokenStream) -> TokenStream {
    quote_spanned!(column.span()=> <#table::columns::#column as #private::diesel::Column>::NAME)
}

/// The column of the history that names the row.
fn history_id(machine: &Machine<'_>, history: &Path) -> Ident {
    let by_default = || Ident::new("row_id", last_span(history));
    machine.args.history_id.clone().unwrap_or_else(by_default)
}

/// Asks for the other columns of the history, at its path.
pub(super) fn expand_history_check(machine: &Machine<'_>, private: &TokenStream) -> Option<TokenStream> {
    const COLUMNS: [&str; 7] = ["event", "source", "target", "actor", "reason", "metadata", "at"];
    let history = machine.args.history.as_ref()?;
    let span = last_span(history);
    let columns = COLUMNS.iter().map(|name| column_name(history, &Ident::new(name, span), private));
    Some(quote!(const _: [&::core::primitive::str; 7] = [#(#columns),*];))
}

/// Where the last word of a path stands.
fn last_span(path: &Path) -> Span {
    path.segments.last().map_or_else(|| path.span(), |segment| segment.ident.span())
}

pub(super) fn expand_tables(machine: &Machine<'_>, private: &TokenStream) -> TokenStream {
    let of = |path: &Path| {
        let name = path.segments.last().map(|segment| segment.ident.unraw().to_string()).unwrap_or_default();
        let span = last_span(path);
        quote_spanned!(span=> #private::TableName::of(&#path::table, #name))
    };
    let history = option(machine.args.history.as_ref().map(of));
    let tables = match machine.args.table.as_ref().map(of) {
        Some(table) => quote!(#private::Tables { table: #table, history: #history }),
        // Only a machine with mistakes has none.
        None => quote!(::core::unreachable!()),
    };
    quote! {
        fn tables() -> #private::Tables {
            #tables
        }
    }
}
