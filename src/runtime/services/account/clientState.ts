/** A client as its mailbox holds it, in the shapes that rules and replies need. Pure reads of one SubjectState. */
import { summaryOf } from "../../../machines/appropriateness/Assessment.ts"
import type { ClientContext } from "../../../machines/client/Client.ts"
import {
  type AppropriatenessSummary,
  type ClientWire,
  noAssessment,
  type VerificationView
} from "../../../machines/client/ClientWire.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { RiskState } from "../../../machines/margin/accountRisk.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import {
  type BlockCode,
  blockCodes,
  blockLevel,
  type BlockStatus,
  type BlockStatuses,
  type BlockView
} from "../../../machines/verification/Blocks.ts"
import { type Requirements, requirements } from "../../../machines/verification/requirements.ts"
import { sourceOfWealthDue } from "../../../machines/verification/sourceOfWealth.ts"
import type { Instance } from "../../effects/Instance.ts"
import { ForeignSubject } from "../../engine/mailbox/ForeignSubject.ts"
import { reading, type SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { AssessmentRow } from "../../tables/appropriateness.ts"
import type { BalanceRow } from "../../tables/ledger.ts"
import type { ClientRow } from "../../tables/client.ts"
import { recordedIn } from "./accountNow.ts"
import type { PartnerView } from "../partners/Directory.ts"

export const clientSubject = (clientId: number): string => `client:${clientId}`

/**
 * In a turn: the client's row. Null: the client does not exist or belongs to another partner; callers can't distinguish
 * the two.
 */
export const ownClient = (state: SubjectState, partnerId: number): ClientRow | null => {
  const row = state.one("clients")
  return row === undefined || row.partnerId !== partnerId ? null : row
}

/**
 * In a partner's read: the client's row, or null if there is none. Throws `ForeignSubject` for another partner's
 * client, so that the host shows an empty state.
 */
export const readersClient = (state: SubjectState, partnerId: number): ClientRow | null => {
  const row = state.one("clients")
  if (row !== undefined && row.partnerId !== partnerId) throw new ForeignSubject()
  return row ?? null
}

export const clientContext = (row: ClientRow): ClientContext => row.context

const statuses = reading(
  ["verificationBlocks"],
  (rows): BlockStatuses => new Map(rows.all("verificationBlocks").map((row) => [row.code as BlockCode, row.state]))
)

export const blockStatuses = (state: SubjectState): BlockStatuses => state.derived(statuses)

export const usdcBalance = (state: SubjectState): BalanceRow | undefined =>
  state.all("balances").find((row) => row.currency === "USDC")

/** Lifetime deposits in micro-USDC over all currencies (F25). */
export const lifetimeDeposits = (state: SubjectState): bigint =>
  state.all("balances").reduce((sum, row) => sum + row.deposited, 0n)

export const requirementsOf = (state: SubjectState, client: ClientRow, threshold: bigint): Requirements =>
  requirements(
    blockStatuses(state),
    client.level,
    sourceOfWealthDue({ kind: "WITHDRAWAL", booked: lifetimeDeposits(state) }, threshold)
  )

/** The owner of the effects that a client's machines emit. */
export const instanceOf = (client: ClientRow, partner: PartnerView): Instance => ({
  partnerId: client.partnerId,
  clientId: client.id,
  clientUid: client.uid,
  partnerClientRef: client.partnerClientRef,
  custodyModel: partner.row.custodyModel,
  endpoint: partner.endpoint
})

export const clientWire = (state: SubjectState, client: ClientRow, facts: Facts): ClientWire =>
  clientWireOf(client, { cash: usdcBalance(state)?.cash ?? 0n, riskState: shownRiskState(recordedIn(state), facts) })

/** The risk state in client rows: null while no market is attached (A1-12). */
export const shownRiskState = (recorded: RiskState, { takenAt }: Facts): RiskState | null =>
  takenAt === null ? null : recorded

interface Shown {
  /** USDC, micro units. */
  readonly cash: bigint
  readonly riskState: RiskState | null
}

/** The client row of the specification from its stored row, its USDC cash and its recorded risk state. */
export const clientWireOf = (client: ClientRow, { cash, riskState }: Shown): ClientWire => ({
  clientId: client.id,
  clientUid: client.uid,
  partnerClientRef: client.partnerClientRef,
  email: client.email,
  displayName: client.displayName,
  verificationLevel: client.level,
  lifecycleState: client.state,
  categorization: client.categorization,
  riskState,
  cashUsdc: formatAmount(cash, "USDC"),
  createdAt: client.createdAt
})

const blockViews = (state: SubjectState): ReadonlyArray<BlockView> => {
  const rows = new Map(state.all("verificationBlocks").map((row) => [row.code, row]))
  return blockCodes.map((code) => {
    const row = rows.get(code)
    const context = row?.context
    return {
      code,
      level: blockLevel(code),
      status: (row?.state ?? "NOT_STARTED") as BlockStatus,
      decidedBy: context?.decidedBy ?? null,
      decidedAt: context?.decidedAt ?? null,
      reason: context?.reason ?? null,
      updatedAt: context?.updatedAt ?? null
    }
  })
}

/** The summary of a client's assessment; without an assessment all fields are null or 0. */
export const appropriatenessOf = (row: AssessmentRow | undefined): AppropriatenessSummary =>
  row === undefined ? noAssessment : summaryOf(row.state, row.context)

export const verificationView = (state: SubjectState, client: ClientRow, threshold: bigint): VerificationView => {
  const kyc = state.one("kycPackages")
  const context = kyc?.context
  return {
    clientId: client.id,
    clientUid: client.uid,
    partnerClientRef: client.partnerClientRef,
    level: client.level,
    lifecycleState: client.state,
    blocks: blockViews(state),
    requirements: requirementsOf(state, client, threshold),
    appropriateness: appropriatenessOf(state.one("assessments")),
    kycPackage:
      kyc === undefined || context === undefined
        ? null
        : {
            kycPackageId: kyc.id,
            revision: context.revision,
            status: kyc.state,
            reviewNote: kyc.state === "DOCUMENTS_REQUESTED" || kyc.state === "REJECTED" ? context.reviewNote : null
          }
  }
}
