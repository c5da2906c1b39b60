//! Routes that declare what they require of their caller.

use crate::http::extract::App;
use axum::extract::State;
use podo_domain::identity::permissions::Permission;
use serde_json::json;
use utoipa_axum::router::UtoipaMethodRouter;

/// A handler's requirement, as the type of its first argument after the state.
pub(crate) trait Policy {
    /// Its name in the OpenAPI document.
    const NAME: &'static str;
    const PERMISSION: Permission;
    /// What the call is about.
    const SCOPE: &'static str;
}

/// A policy as the OpenAPI document shows it.
pub(crate) struct Declared {
    policy: &'static str,
    permission: Permission,
    scope: &'static str,
}

/// A handler with a policy; `Args` are its arguments after the state.
pub(crate) trait Declares<Args> {
    const DECLARED: Declared;
}

macro_rules! declares {
    ($($argument:ident),*) => {
        impl<F, Out, P: Policy, $($argument),*> Declares<(P, $($argument,)*)> for F
        where
            F: Fn(State<App>, P, $($argument),*) -> Out,
        {
            const DECLARED: Declared =
                Declared { policy: P::NAME, permission: P::PERMISSION, scope: P::SCOPE };
        }
    };
}

declares!();
declares!(A);
declares!(A, B);
declares!(A, B, C);
declares!(A, B, C, D);

/// The policy's field in the OpenAPI document. One field, because the order of several would change
/// from run to run.
const EXTENSION: &str = "x-podo-policy";

/// Adds the handler's policy to each of its operations.
pub(crate) fn declare<H: Declares<Args>, Args>(
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
            let Declared { policy, permission, scope } = H::DECLARED;
            let declared = json!({ "type": policy, "permission": permission, "scope": scope });
            extensions.insert(EXTENSION.to_owned(), declared);
        }
    }
    (schemas, paths, router)
}

/// The routes of a handler with a policy in its signature; without one it doesn't compile.
macro_rules! guarded {
    ($handler:ident) => {
        $crate::http::extract::policy::declare($handler, utoipa_axum::routes!($handler))
    };
}

pub(crate) use guarded;
