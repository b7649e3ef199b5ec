//! Patterns of parameters.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Pat, PatIdent};

/// A pattern that binds the same names when it is matched against a reference: without `mut`, `ref` and `&`, which the
/// binding modes of edition 2024 refuse there.
pub(crate) fn by_reference(pattern: &Pat) -> Pat {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_pat_mut(&mut self, pattern: &mut Pat) {
            while let Pat::Reference(reference) = pattern {
                *pattern = (*reference.pat).clone();
            }
            syn::visit_mut::visit_pat_mut(self, pattern);
        }

        fn visit_pat_ident_mut(&mut self, ident: &mut PatIdent) {
            ident.by_ref = None;
            ident.mutability = None;
            syn::visit_mut::visit_pat_ident_mut(self, ident);
        }
    }
    let mut pattern = pattern.clone();
    Strip.visit_pat_mut(&mut pattern);
    pattern
}

/// The names that a pattern binds.
pub(crate) fn bound_names(pattern: &Pat) -> Vec<Ident> {
    struct Names(Vec<Ident>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, ident: &'ast PatIdent) {
            self.0.push(ident.ident.clone());
            syn::visit::visit_pat_ident(self, ident);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

/// Every word of `tokens`, at any depth.
pub(crate) fn words(tokens: TokenStream, into: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => words(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;
    use syn::parse::Parser;

    fn stripped(pattern: &str) -> String {
        let pattern = Pat::parse_single.parse_str(pattern).unwrap();
        by_reference(&pattern).to_token_stream().to_string()
    }

    #[test]
    fn what_a_reference_cannot_be_matched_with_is_taken_off() {
        assert_eq!(stripped("mut a"), "a");
        assert_eq!(stripped("Json(ref mut a)"), "Json (a)");
        assert_eq!(stripped("&(a, mut b)"), "(a , b)");
        assert_eq!(stripped("Point { x, y: mut why }"), "Point { x , y : why }");
    }

    #[test]
    fn every_bound_name_is_found() {
        let pattern = Pat::parse_single.parse_str("Wrap(a, Point { x, y: [b, .., c @ 1] })").unwrap();
        let names: Vec<_> = bound_names(&pattern).iter().map(Ident::to_string).collect();
        assert_eq!(names, ["a", "x", "b", "c"]);
    }
}
