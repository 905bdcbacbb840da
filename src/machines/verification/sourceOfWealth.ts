/**
 * Whether a client's lifetime deposits require the source of wealth: the threshold test of enhanced due diligence. This test
 * reads money and the requirements read blocks, so the two are apart. Source: F25, A3-09 (AMLD Article 11(b)).
 */

/** 15,000 USDC in micro-USDC: the default of the setting, which the caller passes. */
export const defaultSourceOfWealthThreshold = 15_000_000_000n

/**
 * The requested movement. All figures in micro-USDC (6 places), valued when booked: `booked` is CONFIRMED deposit notices plus
 * BOOKED collateral deposits of the client's whole life, `pending` the PENDING notices.
 */
export type MoneyMovement =
  | { readonly kind: "DEPOSIT"; readonly booked: bigint; readonly pending: bigint; readonly amount: bigint }
  | { readonly kind: "WITHDRAWAL"; readonly booked: bigint }

/**
 * True when the movement also needs block SOURCE_OF_WEALTH. A deposit counts itself and the pending deposits, so the deposit
 * that would reach the threshold is stopped, whatever its size. A withdrawal counts booked deposits only.
 */
export const sourceOfWealthDue = (movement: MoneyMovement, threshold: bigint): boolean =>
  movement.kind === "DEPOSIT"
    ? movement.booked + movement.pending + movement.amount >= threshold
    : movement.booked >= threshold
