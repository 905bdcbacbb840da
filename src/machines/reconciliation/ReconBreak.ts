/**
 * Reconciliation break: a difference between the ledger and a bank, a chain or the venue. It may pause withdrawals until
 * staff have explained it (doc 3, Withdrawal request: "an open reconciliation break pausing money out"; A3-11).
 */
export const breakScopes = ["ALL", "PARTNER", "CLIENT"] as const
export type BreakScope = (typeof breakScopes)[number]

export const breakStatuses = ["OPEN", "CLOSED"] as const
export type BreakStatus = (typeof breakStatuses)[number]

/** `amount` is the signed difference in the currency's full scale. `partnerId` and `clientId` name the scope. */
export interface ReconBreakInput {
  readonly breakId: number
  readonly scope: BreakScope
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly currency: string
  readonly amount: string
  readonly pausesMoneyOut: boolean
  readonly reason: string
  readonly openedAt: number
}

export interface ReconBreakContext extends ReconBreakInput {
  readonly closedAt: number | null
  readonly closingReason: string | null
}

export interface ReconBreakEvent {
  readonly type: "CLOSE"
  readonly at: number
  readonly reason: string
}

/** Whether an open break stops withdrawals of this client, in any currency. */
export const pauses = (
  row: Pick<ReconBreakContext, "scope" | "partnerId" | "clientId" | "pausesMoneyOut">,
  client: { readonly clientId: number; readonly partnerId: number }
): boolean => {
  if (!row.pausesMoneyOut) return false
  if (row.scope === "ALL") return true
  return row.scope === "PARTNER" ? row.partnerId === client.partnerId : row.clientId === client.clientId
}
