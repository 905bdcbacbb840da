/**
 * The auditor of a simulation. It receives every commit, every answer as its bytes leave, every delivery that arrives
 * at a receiver and every read, and checks the invariants that must then hold (architecture, Proof).
 */
import { gateRefusals, refusalText } from "../../src/machines/shared/wireRefusal.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { AnswerRow } from "../../src/runtime/tables/engine.ts"
import { CommitAudit, factsOf, minor } from "./CommitAudit.ts"
import { fingerprintOfCall, type PartnerAnswer, type PartnerCall } from "./Doorway.ts"
import { Findings } from "./Findings.ts"
import type { Arrival } from "./Network.ts"
import type { ObservedStore } from "./ObservedStore.ts"
import type { SimProcess } from "./SimProcess.ts"

/** Answers after which the partner may send the same request again. */
const passing: ReadonlySet<string> = new Set(
  [
    gateRefusals.unavailable,
    gateRefusals.suspended,
    gateRefusals.unauthorized,
    gateRefusals.reliance,
    gateRefusals.inProgress,
    gateRefusals.keyReused
  ].map(refusalText)
)

/** True if no further attempt of the request is needed. */
export const isFinal = ({ status, body }: PartnerAnswer): boolean =>
  status !== 500 && !passing.has(body) && !isVenueAway(status, body)

/** True if the request did not reach the venue and wrote nothing. An answer about a call in flight has `data`. */
const isVenueAway = (status: number, body: string): boolean => status === 502 && !body.includes('"data":')

/** A collateral answer that names a report: booked, replayed or refused for good. */
export interface Acknowledged {
  readonly call: PartnerCall
  readonly partnerId: number
  readonly reportId: number
  readonly status: string
}

/** The data of the answer to a filing: of a deposit notice or a withdrawal request. */
interface RequestAnswer {
  readonly noticeId?: number
  readonly requestId?: number
  readonly partnerRef: string
  readonly status: string
}

interface AcknowledgedRequest {
  readonly call: PartnerCall
  readonly partnerId: number
  readonly table: "depositNotices" | "withdrawalRequests"
  readonly id: number
  readonly partnerRef: string
}

export class Auditor {
  readonly findings = new Findings()
  readonly commits: CommitAudit
  readonly acknowledged: Array<Acknowledged> = []
  readonly arrivals: Array<Arrival> = []
  private readonly requests: Array<AcknowledgedRequest> = []
  private readonly store: ObservedStore
  private readonly calls = new Map<string, PartnerCall>()
  private readonly firstBytes = new Map<string, string>()

  /** `guarded`: the commands that need the approval of a second operator key. */
  constructor(store: ObservedStore, guarded: ReadonlySet<string>) {
    this.store = store
    this.commits = new CommitAudit(this.findings, store, guarded, (requestId) => this.calls.get(requestId)?.key != null)
  }

  /** Records a partner's call on its first attempt. */
  sent(call: PartnerCall): void {
    this.calls.set(call.id, call)
  }

  committed(commit: Commit, now: number, writer: string): void {
    this.commits.take(commit, now, writer, this.store.owner)
  }

  /** Checks an answer when it leaves a process. */
  answered(process: SimProcess, call: PartnerCall, partnerId: number, answer: PartnerAnswer): void {
    const { findings } = this
    const where = `${call.id} at ${process.name}`
    if (answer.status === 500) return findings.add("defects", `${where}: ${answer.body}`)
    if (!isFinal(answer)) return
    // A questionnaire that is submitted too early (429) may be submitted later under the same key.
    const keyed = call.key !== null && isKept(call) && answer.status !== 429
    if (keyed) {
      const row = this.store
        .rows("answers")
        .find((stored: AnswerRow) => stored.principal === `partner:${partnerId}` && stored.key === call.key)
      findings.expect(
        row !== undefined && row.body === answer.body && row.fingerprint === fingerprintOfCall(call),
        "output-gate",
        () => `${where} was answered ${answer.status}, the store has ${row === undefined ? "no answer" : "another"}`
      )
      const name = `${partnerId} ${call.key} ${fingerprintOfCall(call)}`
      const first = this.firstBytes.get(name) ?? answer.body
      this.firstBytes.set(name, first)
      findings.expect(first === answer.body, "same-bytes", () => `${where}: ${answer.body} after ${first}`)
    }
    if (keyed && call.path.endsWith("/settlement/report")) this.checkBulk(call, answer)
    this.noteReport(call, partnerId, answer)
    this.noteRequest(call, partnerId, answer)
    if (call.path.endsWith("/kyc") && answer.status === 200) this.checkRevision(call, answer)
  }

  /** The revision named by an answered update is stored. */
  private checkRevision({ id }: PartnerCall, { body }: PartnerAnswer): void {
    const { data } = JSON.parse(body) as {
      readonly data: { readonly kycPackageId: number; readonly revision: number }
    }
    const found = this.store
      .rows("kycRevisions")
      .some(({ packageId, revision }) => packageId === data.kycPackageId && revision === data.revision)
    this.findings.expect(
      found,
      "output-gate",
      () =>
        `${id} was answered with revision ${data.revision} of package ${data.kycPackageId}, which is not in the store`
    )
  }

  /** The final answer of a bulk report counts the work of all attempts (A1-53). */
  private checkBulk(call: PartnerCall, { status, body }: PartnerAnswer): void {
    if (status !== 200) return
    const { data } = JSON.parse(body) as { readonly data: { readonly settled: number; readonly failed: number } }
    const done = this.commits.audit.filter(
      ({ requestId, action }) => requestId === call.id && action === "settlement.report"
    )
    this.findings.expect(
      done.length === data.settled + data.failed,
      "bulk-truth",
      () => `${call.id} changed ${done.length} items and was told ${data.settled} settled, ${data.failed} failed`
    )
  }

  private noteReport(call: PartnerCall, partnerId: number, { status, body }: PartnerAnswer): void {
    if (!call.path.endsWith("/collateral")) return
    const { data } = JSON.parse(body) as { readonly data?: { readonly reportId?: number; readonly status?: string } }
    if (data?.reportId === undefined || data.status === undefined) return
    this.acknowledged.push({ call, partnerId, reportId: data.reportId, status: data.status })
    const row = this.store.rows("collateralReports").find(({ id }) => id === data.reportId)
    this.findings.expect(
      row !== undefined && row.state === data.status,
      "output-gate",
      () => `${call.id} was answered ${status} with report ${data.reportId}, which is not in the store so`
    )
  }

  /** An answered deposit notice or withdrawal request has had the state of the answer, and stays stored. */
  private noteRequest(call: PartnerCall, partnerId: number, { status, body }: PartnerAnswer): void {
    const [, kind] = /\/(deposits|withdrawals)$/.exec(call.path) ?? []
    if (kind === undefined || status > 201) return
    const { data } = JSON.parse(body) as { readonly data: RequestAnswer }
    const id = data.noticeId ?? data.requestId ?? 0
    const money = kind as "deposits" | "withdrawals"
    const table = money === "deposits" ? "depositNotices" : "withdrawalRequests"
    const { partnerRef } = call.body as { readonly partnerRef: string }
    this.requests.push({ call, partnerId, table, id, partnerRef })
    this.findings.expect(
      data.partnerRef === partnerRef && this.commits.money.wasSo(money, id, partnerRef, data.status),
      "output-gate",
      () => `${call.id} was answered ${status} with ${table} ${id} ${data.status}, which it never was`
    )
  }

  /**
   * Checks a read of a client's cash from the owner of the store: the request left at `from`, the answer arrived at
   * `to`.
   */
  read(clientId: number, text: string, from: number, to: number): void {
    const cash = minor(text)
    const versions = this.commits.cash.get(clientId) ?? []
    const seen = [{ at: 0, cash: 0n }, ...versions]
    const shown = seen.some((version, index) => {
      const end = seen[index + 1]?.at ?? Number.POSITIVE_INFINITY
      return version.cash === cash && version.at <= to && end >= from
    })
    this.findings.expect(shown, "reads", () => `client ${clientId} read ${text}, which was never so at that time`)
  }

  /** Checks a delivery that arrives at a receiver. */
  arrived(arrival: Arrival): void {
    this.arrivals.push(arrival)
    const { findings, store } = this
    const row = store.rows("webhookDeliveries").find(({ id }) => id === arrival.deliveryId)
    findings.expect(
      row !== undefined && row.body === arrival.body && row.event === arrival.event,
      "delivery-body",
      () => `delivery ${arrival.deliveryId} arrived and is not in the store so`
    )
  }

  /** Checks the secret when a process signs a delivery. */
  signed(process: SimProcess, partnerId: number, secret: string): void {
    // A process whose commit is in doubt, or that was replaced and has not noticed it, can't know the newest secret.
    if (this.store.owner !== process.name || process.journal?.certain() !== true) return
    const present = this.store.rows("webhookEndpoints").find((row) => row.partnerId === partnerId)
    this.findings.expect(
      present?.secret === secret && present.state === "ACTIVE",
      "signature",
      () => `${process.name} signs for partner ${partnerId} with a secret that is not the present one`
    )
  }

  defect(process: string, text: string): void {
    this.findings.add("defects", `${process} logged: ${text}`)
  }

  /** Compares the acknowledged reports with the store. */
  checkAcknowledged(): void {
    const reports = this.store.rows("collateralReports")
    for (const { call, partnerId, reportId, status } of this.acknowledged) {
      const { partnerRef } = call.body as { readonly partnerRef: string }
      const found = reports.filter((row) => row.partnerId === partnerId && factsOf(row).partnerRef === partnerRef)
      this.findings.expect(
        found.length === 1 && found[0]?.id === reportId && found[0].state === status,
        "acknowledged",
        () =>
          `${call.id} was told report ${reportId} ${status}; the store has ${found.map((row) => `${row.id} ${row.state}`).join(", ") || "none"}`
      )
    }
    for (const { call, partnerId, table, id, partnerRef } of this.requests) {
      const found = this.store
        .rows(table)
        .filter((row) => row.partnerId === partnerId && row.context.partnerRef === partnerRef)
      this.findings.expect(
        found.length === 1 && found[0]?.id === id,
        "acknowledged",
        () => `${call.id} was told ${table} ${id}; the store has ${found.map((row) => row.id).join(", ") || "none"}`
      )
    }
  }
}

/** True for routes whose answers are stored under the Idempotency-Key. */
const isKept = ({ path }: PartnerCall): boolean =>
  !/\/(webhook|preview|explain|cancel)$/.test(path) || path.includes("/withdrawals/")
