/**
 * When a client's lifetime deposits call for the source of wealth: the threshold test of enhanced due diligence.
 * Apart from the requirements, because it reads money and they read blocks. Source: F25, A3-09 (AMLD Article 11(b)).
 */

/** 15,000 USDC in micro-USDC; the default of the setting, handed in by the caller. */
export const defaultSourceOfWealthThreshold = 15_000_000_000n

/**
 * The movement asked for. All figures in micro-USDC (6 places), valued when booked: `booked` is CONFIRMED deposit
 * notices plus BOOKED collateral deposits of the client's whole life, `pending` the PENDING notices.
 */
export type MoneyMovement =
  | { readonly kind: "DEPOSIT"; readonly booked: bigint; readonly pending: bigint; readonly amount: bigint }
  | { readonly kind: "WITHDRAWAL"; readonly booked: bigint }

/**
 * True when the movement also needs block SOURCE_OF_WEALTH. A deposit counts itself and what is pending, so the one that would
 * reach the line is stopped, whatever its size; a withdrawal looks at booked deposits alone.
 */
export const sourceOfWealthDue = (movement: MoneyMovement, threshold: bigint): boolean =>
  movement.kind === "DEPOSIT"
    ? movement.booked + movement.pending + movement.amount >= threshold
    : movement.booked >= threshold
