/**
 * Records the service's acknowledgements to the simulated partner, byte for byte, and the resulting expectation: clients,
 * reports and balances to the last unit. An answer that contradicts it is kept as a sentence (doc 1, Onboarding result; doc 3,
 * Collateral report; D11).
 */
import { Exit, Schema } from "effect"
import { OnboardingResult } from "../../src/machines/client/ClientWire.ts"
import { CollateralAnswer } from "../../src/machines/collateral/CollateralReport.ts"
import { formatAmount, parseAmount } from "../../src/machines/shared/Money.ts"
import type { PartnerAnswer } from "./PartnerClient.ts"
import type { CollateralPlan, OnboardingPlan, PartnerRequest } from "./PartnerRequest.ts"

export interface Acknowledged {
  readonly request: PartnerRequest
  readonly status: number
  readonly body: Buffer
  /** Arrival of the answer, Unix ms. */
  readonly at: number
  /** True when an earlier attempt had executed the request and its answer was lost, so that this answer is a replay. */
  readonly foundAgain: boolean
}

/** The partner's own record of a client. Money in micro-USDC. */
export interface KnownClient {
  readonly number: number
  readonly partnerClientRef: string
  readonly email: string
  readonly clientId: number
  readonly clientUid: string
  cash: bigint
  /** Sum of all deposits, for the source-of-wealth limit. */
  deposited: bigint
}

export interface KnownReport {
  readonly plan: CollateralPlan
  readonly reportId: number
  readonly ledgerTxId: number
  /** The client's cash right after the booking, which every answer for the report contains. Micro-USDC. */
  readonly cashAfter: bigint
}

/** Limit on the contradictions that are kept as text; further ones are only counted. */
const contradictionLimit = 50

const Envelope = <S extends Schema.Top>(data: S) =>
  Schema.fromJsonString(Schema.Struct({ code: Schema.Literal(0), data }))
const decodeOnboarding = Schema.decodeUnknownExit(Envelope(OnboardingResult))
const decodeCollateral = Schema.decodeUnknownExit(Envelope(CollateralAnswer))

export class AcknowledgedJournal {
  readonly entries: Array<Acknowledged> = []
  /** The onboarded clients by client number. */
  readonly clients = new Map<number, KnownClient>()
  /** The acknowledged reports by partnerRef. */
  readonly reports = new Map<string, KnownReport>()
  readonly contradictions: Array<string> = []
  contradictionCount = 0
  private readonly reportIds = new Set<number>()
  private readonly transactionIds = new Set<number>()

  /** Records the first answer of a request and checks it. */
  acknowledge(request: PartnerRequest, answer: PartnerAnswer, arrival: Pick<Acknowledged, "at" | "foundAgain">): void {
    this.entries.push({ request, status: answer.status, body: answer.body, ...arrival })
    if (request.kind === "onboarding") this.onboarded(request, answer)
    else this.reported(request, answer)
  }

  contradict(sentence: string): void {
    this.contradictionCount++
    if (this.contradictions.length < contradictionLimit) this.contradictions.push(sentence)
  }

  private onboarded(plan: OnboardingPlan, answer: PartnerAnswer): void {
    const what = `onboarding ${plan.partnerClientRef}`
    if (answer.status !== 201) return this.contradict(`${what} was answered ${summary(answer)}, not 201.`)
    const decoded = decodeOnboarding(answer.body.toString())
    if (Exit.isFailure(decoded)) return this.contradict(`${what}: the body is not the contract's.`)
    const { data } = decoded.value
    if (data.status !== "ACTIVE" || data.partnerClientRef !== plan.partnerClientRef) {
      this.contradict(`${what}: status ${data.status} for ${data.partnerClientRef}.`)
    }
    if ([...this.clients.values()].some(({ clientId }) => clientId === data.clientId)) {
      return this.contradict(`${what}: client ${data.clientId} was given to two references.`)
    }
    const { client: number, partnerClientRef, email } = plan
    const { clientId, clientUid } = data
    this.clients.set(number, { number, partnerClientRef, email, clientId, clientUid, cash: 0n, deposited: 0n })
  }

  private reported(plan: CollateralPlan, answer: PartnerAnswer): void {
    const what = `report ${plan.partnerRef}`
    const status = plan.repeats === null ? 201 : 200
    if (answer.status !== status) return this.contradict(`${what} was answered ${summary(answer)}, not ${status}.`)
    const decoded = decodeCollateral(answer.body.toString())
    if (Exit.isFailure(decoded)) return this.contradict(`${what}: the body is not the contract's.`)
    const { data } = decoded.value
    const amount = formatAmount(plan.amount, "USDC")
    const { report } = data
    if (data.status !== "BOOKED" || data.ledgerTxId === null || report.ledgerTxId !== data.ledgerTxId) {
      return this.contradict(`${what}: ${data.status} without its ledger transaction.`)
    }
    if (
      report.partnerRef !== plan.partnerRef ||
      report.clientId !== plan.clientId ||
      report.amount !== amount ||
      report.direction !== plan.direction
    ) {
      this.contradict(`${what}: the report answered is another one.`)
    }
    const client = this.clients.get(plan.client)
    if (client === undefined) return this.contradict(`${what}: its client is unknown.`)
    if (plan.repeats === null) this.book(plan, client, data.reportId, data.ledgerTxId)
    else if (data.reportId !== plan.repeats)
      this.contradict(`${what}: repeated under a new key it became report ${data.reportId}, not ${plan.repeats}.`)
    // The bot sends one request a client at a time, so the answered balance is exactly the one after this booking.
    const { cashAfter } = this.reports.get(plan.partnerRef) ?? { cashAfter: client.cash }
    if (parseAmount(data.balances.cash, "USDC") !== cashAfter) {
      this.contradict(`${what}: cash ${data.balances.cash} was told, ${formatAmount(cashAfter, "USDC")} expected.`)
    }
  }

  private book(plan: CollateralPlan, client: KnownClient, reportId: number, ledgerTxId: number): void {
    if (this.reportIds.has(reportId) || this.transactionIds.has(ledgerTxId)) {
      this.contradict(
        `report ${plan.partnerRef}: report ${reportId} or transaction ${ledgerTxId} was told for two references.`
      )
    }
    this.reportIds.add(reportId)
    this.transactionIds.add(ledgerTxId)
    if (plan.direction === "DEPOSIT") {
      client.cash += plan.amount
      client.deposited += plan.amount
    } else client.cash -= plan.amount
    this.reports.set(plan.partnerRef, { plan, reportId, ledgerTxId, cashAfter: client.cash })
  }
}

/** Status and error code, without personal data. */
const summary = ({ status, body }: PartnerAnswer): string => {
  const code = /"code":(\d+)/.exec(body.toString())?.[1]
  const sentence = /"msg":"([^"]*)"/.exec(body.toString())?.[1]
  return `${status}${code === undefined ? "" : ` (${code})`}${sentence === undefined ? "" : ` "${sentence}"`}`
}
