//! Events and edges as written.

use std::fmt;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, ExprPath, Ident, LitStr, Path, Token, braced, token};

use super::names::word_of;
use crate::arguments::{parse_list, skip_to_comma};
use crate::errors::Errors;

/// One item of `transitions(…)`.
pub(super) struct Declaration {
    /// None for an edge that names no event.
    pub(super) event: Option<EventName>,
    pub(super) arrows: Vec<Arrow>,
}

/// `pay`, or `"OP_VOID/SUCCESS" as void_success`.
pub(super) struct EventName {
    pub(super) ident: Ident,
    pub(super) text: Option<LitStr>,
}

/// `A | B => C if guard`.
pub(super) struct Arrow {
    pub(super) sources: Sources,
    pub(super) targets: Vec<Ident>,
    pub(super) guard: Option<ExprPath>,
}

pub(super) enum Sources {
    States(Vec<Ident>),
    /// `any - A - B`
    Any {
        any: Ident,
        except: Vec<Ident>,
    },
}

impl Declaration {
    /// A broken edge does not hide the event: what calls it should still find it.
    pub(super) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let event = EventName::parse(input)?;
        let Some(name) = &event else { return Ok(Self { event: None, arrows: vec![Arrow::parse(input)?] }) };
        if input.peek(token::Brace) {
            let content;
            braced!(content in input);
            if content.is_empty() {
                let word = name.word();
                errors.at(
                    &name.ident,
                    format_args!("event `{word}` has no edge; write `{word}: {{ Created => Paid, … }}`"),
                );
            }
            let arrows = parse_list(&content, errors, |input, _| Arrow::parse(input));
            return Ok(Self { event, arrows });
        }
        let arrows = errors.ok(Arrow::parse(input)).into_iter().collect::<Vec<_>>();
        if arrows.is_empty() {
            skip_to_comma(input);
        }
        Ok(Self { event, arrows })
    }
}

impl EventName {
    /// None where a state stands, of an edge without an event.
    fn parse(input: ParseStream<'_>) -> syn::Result<Option<Self>> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            if !input.peek(Token![as]) {
                let stored = text.value();
                let word = word_of(&stored.to_lowercase(), text.span());
                return Err(syn::Error::new_spanned(
                    text,
                    format!("event `{stored}` needs a name in Rust too; write `\"{stored}\" as {word}: …`"),
                ));
            }
            input.parse::<Token![as]>()?;
            let ident = Ident::parse_any(input)?;
            input.parse::<Token![:]>()?;
            return Ok(Some(Self { ident, text: Some(text) }));
        }
        if input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
            let ident = Ident::parse_any(input)?;
            input.parse::<Token![:]>()?;
            return Ok(Some(Self { ident, text: None }));
        }
        Ok(None)
    }

    /// As the program writes it, without `r#`.
    pub(super) fn word(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// As the history holds it.
    pub(super) fn stored(&self) -> String {
        self.text.as_ref().map_or_else(|| self.word(), LitStr::value)
    }
}

impl Arrow {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let sources = Sources::parse(input)?;
        if !input.peek(Token![=>]) {
            return Err(input.error(sources.without_arrow(input)));
        }
        input.parse::<Token![=>]>()?;
        let targets = parse_states(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(parse_guard(input)?),
            None => None,
        };
        Ok(Self { sources, targets, guard })
    }
}

/// A function's path, because refusals and diagrams show it.
fn parse_guard(input: ParseStream<'_>) -> syn::Result<ExprPath> {
    match Expr::parse_without_eager_brace(input)? {
        Expr::Path(path) => Ok(path),
        other => Err(syn::Error::new_spanned(
            other,
            "a guard must be the path of a function, because refusals and diagrams show it by its name; write `if Order::is_paid`, of a `fn(&Order) -> bool`",
        )),
    }
}

/// How a guard is shown.
pub(super) fn guard_text(guard: &ExprPath) -> String {
    let text = guard.to_token_stream().to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    words.iter().fold(String::new(), |text, word| match text.ends_with(is_letter) && word.starts_with(is_letter) {
        true => format!("{text} {word}"),
        false => text + word,
    })
}

impl Sources {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let states = parse_states(input)?;
        let is_minus = || input.peek(Token![-]) && !input.peek(Token![->]);
        match &states[..] {
            [any] if any == "any" => {
                let mut except = Vec::new();
                while is_minus() {
                    input.parse::<Token![-]>()?;
                    except.push(parse_state(input)?);
                }
                Ok(Self::Any { any: any.clone(), except })
            }
            _ if is_minus() => Err(input.error("`-` takes a state out of `any`; write `any - Paid => …`")),
            _ => Ok(Self::States(states)),
        }
    }

    /// What is missing where no arrow follows.
    fn without_arrow(&self, input: ParseStream<'_>) -> String {
        match self {
            Self::Any { .. } if input.peek(Token![|]) => {
                "`any` stands alone, because it is every state; take states out of it, as in `any - Paid => …`"
                    .to_owned()
            }
            Self::States(_) if input.peek(Ident) => {
                format!("expected `:` behind an event, or `=>` behind a state; write `{self}: …` or `{self} => …`")
            }
            _ => format!("expected `=>` and the state that is entered; write `{self} => Paid`"),
        }
    }
}

/// `A | B`
pub(super) fn parse_states(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    let mut states = vec![parse_state(input)?];
    while input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        states.push(parse_state(input)?);
    }
    Ok(states)
}

/// A variant, without the path of its enum.
pub(super) fn parse_state(input: ParseStream<'_>) -> syn::Result<Ident> {
    if !input.peek(Ident) && !input.peek(Token![Self]) && !input.peek(Token![::]) && !input.peek(Token![crate]) {
        return Err(input.error("expected a state; write the name of a variant"));
    }
    let path = Path::parse_mod_style(input)?;
    match (path.get_ident(), path.segments.last()) {
        (None, Some(last)) => {
            let message = format!("a state stands without the path of its enum; write `{}`", last.ident);
            Err(syn::Error::new_spanned(path, message))
        }
        (Some(state), _) => Ok(state.clone()),
        (None, None) => Err(input.error("expected a state; write the name of a variant")),
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => write!(f, "\"{}\" as {}", text.value(), self.word()),
            None => f.write_str(&self.word()),
        }
    }
}

impl fmt::Display for Arrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sources, targets, guard } = self;
        write!(f, "{sources} => {}", joined(targets, " | "))?;
        guard.as_ref().map_or(Ok(()), |guard| write!(f, " if {}", guard_text(guard)))
    }
}

impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(states) => f.write_str(&joined(states, " | ")),
            Self::Any { any, except } => {
                write!(f, "{any}")?;
                except.iter().try_for_each(|state| write!(f, " - {state}"))
            }
        }
    }
}

/// A list as it is read.
pub(super) fn joined<T: ToString>(items: impl IntoIterator<Item = T>, separator: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(separator)
}
