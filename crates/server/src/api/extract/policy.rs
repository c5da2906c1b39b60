//! Routes that say what they demand of their caller.

use super::App;
use axum::extract::State;
use utoipa_axum::router::UtoipaMethodRouter;

/// What a handler demands, as the type of its first argument after the state.
pub(in crate::api) trait Policy {
    /// As the document of the API names it.
    const NAME: &'static str;
}

/// A handler that demands something: `Args` are its arguments after the state.
pub(in crate::api) trait Declares<Args> {
    const POLICY: &'static str;
}

macro_rules! declares {
    ($($argument:ident),*) => {
        impl<F, Out, P: Policy, $($argument),*> Declares<(P, $($argument,)*)> for F
        where
            F: Fn(State<App>, P, $($argument),*) -> Out,
        {
            const POLICY: &'static str = P::NAME;
        }
    };
}

declares!();
declares!(A);
declares!(A, B);
declares!(A, B, C);
declares!(A, B, C, D);

/// Where the document of the API says it.
const EXTENSION: &str = "x-podo-policy";

/// Writes the policy of a handler beside each of its operations.
pub(in crate::api) fn declare<H: Declares<Args>, Args>(
    _handler: H,
    (schemas, mut paths, router): UtoipaMethodRouter<App>,
) -> UtoipaMethodRouter<App> {
    for item in paths.paths.values_mut() {
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.delete,
            &mut item.patch,
            &mut item.head,
            &mut item.options,
            &mut item.trace,
        ];
        for operation in operations.into_iter().flatten() {
            let extensions = operation.extensions.get_or_insert_default();
            extensions.insert(EXTENSION.to_owned(), H::POLICY.into());
        }
    }
    (schemas, paths, router)
}

/// The routes of a handler with a policy in its signature; without one it does not compile.
macro_rules! guarded {
    ($handler:ident) => {
        $crate::api::extract::policy::declare($handler, utoipa_axum::routes!($handler))
    };
}

pub(in crate::api) use guarded;
