/**
 * Whether a client's lifetime deposits require the source of wealth: the threshold test of enhanced due diligence. It
 * is apart from the requirements, because this test uses money, and the requirements use blocks. Source: F25, A3-09
 * (AMLD Article 11(b)).
 */

/** 15,000 USDC in micro-USDC: the default of the setting, which the caller passes. */
export const defaultSourceOfWealthThreshold = 15_000_000_000n

/**
 * The requested movement, in micro-USDC valued at the booking. `booked`: all CONFIRMED deposit notices and BOOKED collateral
 * deposits of the client. `pending`: the PENDING notices.
 */
export type MoneyMovement =
  | { readonly kind: "DEPOSIT"; readonly booked: bigint; readonly pending: bigint; readonly amount: bigint }
  | { readonly kind: "WITHDRAWAL"; readonly booked: bigint }

/**
 * Whether the movement requires block SOURCE_OF_WEALTH. A deposit counts itself and the pending ones, so the deposit that
 * would reach the threshold is refused, whatever its size. A withdrawal counts booked deposits only.
 */
export const sourceOfWealthDue = (movement: MoneyMovement, threshold: bigint): boolean =>
  movement.kind === "DEPOSIT"
    ? movement.booked + movement.pending + movement.amount >= threshold
    : movement.booked >= threshold
