//! Permissions as types, for the signatures of organisers' handlers.

use podo_domain::identity::permissions::Permission;

/// A permission that a handler needs.
pub(crate) trait Needs {
    const PERMISSION: Permission;
}

macro_rules! types {
    ($($name:ident)*) => {$(
        #[doc = concat!("[`Permission::", stringify!($name), "`]")]
        pub(crate) struct $name;

        impl Needs for $name {
            const PERMISSION: Permission = Permission::$name;
        }
    )*};
}

types! {
    ViewEvents
    ManageEvents
    ManageVenues
    ManageAllocations
    SellAtBoxOffice
    IssueComplimentary
    ReseatBookings
    RunWaitingRoom
    ViewSales
    ViewOrders
    RefundPayments
    CorrectWallets
    ViewPeople
    SupportFans
    CheckInTickets
    ViewAttendance
    ManagePages
    ReadMailbox
    ManageTeam
    ManageKeys
    ManageIntegrations
    ViewOperations
    Operate
    ViewAudit
}
