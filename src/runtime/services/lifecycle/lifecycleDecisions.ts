/**
 * The operator's decisions on a client's lifecycle, inside the client's turn: reopening a refused person, downgrading
 * from level MICA_MIFID, and the categorization. Pure except for the turn's draft and ids (D1, D3, D19).
 */
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import { isGoingOn } from "../../../machines/margin/CloseOut.ts"
import {
  categorizationChange,
  type CategorizationChange,
  categorizationRefusal
} from "../../../machines/margin/categorization.ts"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { micaBlockCodes } from "../../../machines/verification/Blocks.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { ClientRow } from "../../tables/client.ts"
import { accountInTurn } from "../account/accountNow.ts"
import { type Chosen, chosenInTurn, perpTermsOf } from "../account/perpHoldings.ts"
import {
  type ClientTurn,
  moveAssessment,
  moveBlock,
  moveClient,
  movePackage,
  writeDecision
} from "../clients/client/clientDecisions.ts"
import { blockStatuses } from "../account/clientState.ts"
import { openPlainCase } from "../clients/kyc/reviewDecisions.ts"
import { stateToRecord } from "../margin/riskDecisions.ts"
import { cappedChoices, putChoices } from "../trading/order/leverageDecisions.ts"

/** Returns a refused person to review. The new case holds the client until compliance clears it. */
export const reopenClient = (at: ClientTurn, client: ClientRow, reason: string): Verdict<ClientRow> => {
  if (client.state !== "KYC_REJECTED") {
    return refuse(conflict("WRONG_STATE", `The client is ${client.state}: only a rejected person can be reopened.`))
  }
  const caseId = openPlainCase(at, client, "REOPENED")
  const next = moveClient(at, client, { type: "REOPEN", at: at.turn.now, caseId, reason })
  if (next === null) throw new Error("a rejected client refused to be reopened")
  const kyc = at.turn.state.one("kycPackages")
  if (kyc !== undefined)
    movePackage(at, kyc, { type: "REOPEN", at: at.turn.now, relianceRejected: relianceRejected(at) })
  writeDecision(at, client, "REOPENED", reason)
  return accept(next)
}

/**
 * True if reliance on the package was rejected. The rejection has rejected every block, and only the partner's
 * re-onboarding approves the MiCA blocks again (D3).
 */
const relianceRejected = ({ turn }: ClientTurn): boolean => {
  const statuses = blockStatuses(turn.state)
  return micaBlockCodes.every((code) => statuses.get(code) === "REJECTED")
}

/**
 * Lowers MICA_MIFID to MICA: the appropriateness block expires, so that only a new test raises the level again (D19).
 */
export const downgradeClient = (at: ClientTurn, client: ClientRow, reason: string): Verdict<ClientRow> => {
  const { turn, by } = at
  const next = moveClient(at, client, { type: "DOWNGRADE", at: turn.now, reason })
  if (next === null) {
    return refuse(
      conflict(
        "WRONG_STATE",
        `The client is ${client.state} at level ${client.level}: only level MICA_MIFID can be taken back.`
      )
    )
  }
  moveBlock(at, client, "APPROPRIATENESS", { type: "DOWNGRADED", at: turn.now, by, reason })
  moveAssessment(at, client, { type: "DOWNGRADED", at: turn.now, reason })
  writeDecision(at, client, "DOWNGRADED", reason)
  return accept(next)
}

export interface Categorization {
  readonly categorization: ClientRow["categorization"]
  /** True: the change is made even if a retail account then leaves risk state NORMAL. */
  readonly force: boolean
  readonly reason: string
}

export interface Categorized {
  readonly clientId: number
  readonly change: CategorizationChange
}

/**
 * Sets the categorization that the risk figures use. No machine moves, so the audit row is written here. Chosen
 * leverages above the new cap are lowered to the cap in the same commit. Returns the effect on the account, which a dry
 * run shows first (A2-102).
 */
export const categorizeClient = (
  at: ClientTurn,
  client: ClientRow,
  { categorization, force, reason }: Categorization
): Verdict<Categorized> => {
  if (client.state === "CLOSED") return refuse(conflict("ACCOUNT_CLOSED", "The account is closed."))
  const before = client.categorization
  if (before === categorization) return refuse(conflict("ALREADY", `The client is ${categorization} already.`))
  const { turn } = at
  const next: ClientRow = { ...client, categorization }
  const choices = cappedChoices(next, chosenInTurn(turn), turn.facts)
  const { cashOf, risk, recorded } = accountInTurn(turn, client)
  const after = accountInTurn(turn, next, choices).risk
  const toRecord = stateToRecord(after, recorded)
  const leverage = leverageMoved(at, { client, next, choices, risk })
  const change = categorizationChange({ recorded, toRecord, before: risk, after, leverage })
  const refusal = categorizationRefusal({
    to: categorization,
    cash: cashOf("USDC"),
    episodeOpen: turn.state.all("closeOuts").some(isGoingOn),
    recorded,
    before: risk,
    after,
    change,
    force
  })
  if (refusal !== null) return refuse(refusal)
  turn.draft.put("clients", next)
  applyEffects(turn, { ...at.instance, object: `client:${client.id}` }, [
    { type: "audit", action: "client.categorize", before, after: categorization, reason }
  ])
  putChoices({ turn, of: at.instance }, next, choices, `categorized ${categorization}`)
  writeDecision(at, client, `CATEGORIZED_${categorization}`, reason)
  return accept({ clientId: client.id, change })
}

interface Recategorized {
  readonly client: ClientRow
  readonly next: ClientRow
  readonly choices: Chosen
  readonly risk: AccountRisk
}

/** The leverage in force before and after, in each market with a position, a working order or a choice. */
const leverageMoved = ({ turn }: ClientTurn, { client, next, choices, risk }: Recategorized) => {
  const chosen = chosenInTurn(turn)
  const symbols = new Set([...risk.perps.map(({ holding }) => holding.symbol), ...chosen.keys()])
  return [...symbols].toSorted().map((symbol) => ({
    symbol,
    before: perpTermsOf(symbol, client, chosen, turn.facts).leverage,
    after: perpTermsOf(symbol, next, choices, turn.facts).leverage
  }))
}
