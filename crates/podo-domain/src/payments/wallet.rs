//! The wallet: one per fan, never below zero, every movement in two accounts that sum to zero.

use crate::{Refusal, Won};
use serde::{Deserialize, Serialize};

/// Most that a wallet may hold.
pub const BALANCE_MAX: Won = match Won::new(10_000_000) {
    Some(most) => most,
    None => panic!("ten million won is in range"),
};

/// Most that one charge may add; the minimum is one won.
pub const CHARGE_MAX: Won = match Won::new(2_000_000) {
    Some(most) => most,
    None => panic!("two million won is in range"),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum LedgerKind {
    Charge,
    Debit,
    Refund,
    Adjust,
}

impl LedgerKind {
    pub const ALL: [LedgerKind; 4] =
        [LedgerKind::Charge, LedgerKind::Debit, LedgerKind::Refund, LedgerKind::Adjust];

    pub const fn as_str(self) -> &'static str {
        match self {
            LedgerKind::Charge => "CHARGE",
            LedgerKind::Debit => "DEBIT",
            LedgerKind::Refund => "REFUND",
            LedgerKind::Adjust => "ADJUST",
        }
    }

    pub fn parse(text: &str) -> Option<LedgerKind> {
        LedgerKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The platform's account on the other side of the movement.
    pub const fn contra(self) -> &'static str {
        match self {
            LedgerKind::Charge => "GATEWAY",
            LedgerKind::Debit | LedgerKind::Refund => "SALES",
            LedgerKind::Adjust => "ADJUSTMENTS",
        }
    }

    /// The sign of the wallet's side: a debit is negative, the others are positive.
    pub const fn signed(self, amount: Won) -> i64 {
        match self {
            LedgerKind::Debit => -amount.get(),
            LedgerKind::Charge | LedgerKind::Refund | LedgerKind::Adjust => amount.get(),
        }
    }
}

/// A movement on a wallet before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Charge(Won),
    /// A charge that a gateway has already made: it's credited whatever the limits.
    Arrived(Won),
    Debit(Won),
    Refund(Won),
    /// By an organiser, in either direction.
    Adjust(i64),
}

impl Change {
    pub const fn kind(self) -> LedgerKind {
        match self {
            Change::Charge(_) | Change::Arrived(_) => LedgerKind::Charge,
            Change::Debit(_) => LedgerKind::Debit,
            Change::Refund(_) => LedgerKind::Refund,
            Change::Adjust(_) => LedgerKind::Adjust,
        }
    }

    /// The change of the wallet's balance.
    pub const fn signed(self) -> i64 {
        match self {
            Change::Charge(amount) | Change::Arrived(amount) | Change::Refund(amount) => {
                amount.get()
            }
            Change::Debit(amount) => -amount.get(),
            Change::Adjust(signed) => signed,
        }
    }

    /// The balance after it, or why it's refused.
    pub fn after(self, balance: Won) -> Result<Won, Refusal> {
        match self {
            Change::Charge(amount) | Change::Debit(amount) | Change::Refund(amount) => {
                balance_after(balance, self.kind(), amount)
            }
            Change::Arrived(amount) => balance.checked_add(amount).ok_or(Refusal::WalletLimit),
            Change::Adjust(signed) => {
                let sum = balance.get().checked_add(signed).filter(|_| signed != 0);
                sum.and_then(Won::new).ok_or(Refusal::WalletLimit)
            }
        }
    }
}

/// The balance after a movement, or why it's refused.
pub fn balance_after(balance: Won, kind: LedgerKind, amount: Won) -> Result<Won, Refusal> {
    match kind {
        LedgerKind::Charge => {
            if amount.is_zero() || amount > CHARGE_MAX {
                return Err(Refusal::WalletLimit);
            }
            balance
                .checked_add(amount)
                .filter(|after| *after <= BALANCE_MAX)
                .ok_or(Refusal::WalletLimit)
        }
        // A refund is never refused because of a limit.
        LedgerKind::Refund | LedgerKind::Adjust => {
            balance.checked_add(amount).ok_or(Refusal::WalletLimit)
        }
        LedgerKind::Debit => balance
            .checked_sub(amount)
            .ok_or_else(|| Refusal::PaymentDeclined { reason: "INSUFFICIENT_BALANCE".into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    #[test]
    fn a_debit_never_takes_more_than_there_is() {
        assert_eq!(balance_after(won(10), LedgerKind::Debit, won(10)), Ok(Won::ZERO));
        assert!(balance_after(won(10), LedgerKind::Debit, won(11)).is_err());
    }

    #[test]
    fn a_charge_has_limits_and_a_refund_has_none() {
        assert_eq!(
            balance_after(BALANCE_MAX, LedgerKind::Charge, won(1)),
            Err(Refusal::WalletLimit)
        );
        assert_eq!(balance_after(won(0), LedgerKind::Charge, won(0)), Err(Refusal::WalletLimit));
        assert!(balance_after(BALANCE_MAX, LedgerKind::Refund, won(1)).is_ok());
    }

    #[test]
    fn an_organiser_adjusts_both_ways_but_never_below_zero() {
        assert_eq!(Change::Adjust(-10).after(won(10)), Ok(Won::ZERO));
        assert_eq!(Change::Adjust(5).after(won(10)), Ok(won(15)));
        for odd in [-11, 0, i64::MIN, i64::MAX] {
            assert_eq!(Change::Adjust(odd).after(won(10)), Err(Refusal::WalletLimit), "{odd}");
        }
    }

    #[test]
    fn money_that_a_gateway_took_arrives_whatever_the_limits_say() {
        assert!(Change::Charge(won(1)).after(BALANCE_MAX).is_err());
        assert!(Change::Arrived(won(1)).after(BALANCE_MAX).is_ok());
    }

    proptest! {
        /// I10: the balance is the sum of the signed movements and never negative.
        #[test]
        fn the_balance_is_the_sum_of_its_movements(
            steps in prop::collection::vec((0usize..4, 1i64..3_000_000), 0..60)
        ) {
            let (mut balance, mut sum) = (Won::ZERO, 0);
            for (kind, amount) in steps {
                let kind = LedgerKind::ALL[kind];
                if let Ok(after) = balance_after(balance, kind, won(amount)) {
                    balance = after;
                    sum += kind.signed(won(amount));
                }
                prop_assert_eq!(balance.get(), sum);
            }
        }
    }
}
