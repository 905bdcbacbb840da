/**
 * PUT and GET .../kyc. An update depends on stored sections that no mailbox holds, so they are read first. A turn that
 * finds another revision than the one read restarts the update, so two updates are never merged into the same base.
 * Updates of one client queue, so that each normally needs one turn (doc 1, Rules of POST /clients and PUT .../kyc 7
 * and 8; A1-32..A1-36; D1, D2).
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import type { Json } from "../../../../machines/shared/Json.ts"
import type { KycPackageContext } from "../../../../machines/kyc/KycPackage.ts"
import { decodeKycUpdate, type KycUpdateBody, referredDocuments } from "../../../../machines/kyc/KycUpdateBody.ts"
import { personKeyOf } from "../../../../machines/kyc/personKey.ts"
import { resultOf } from "../../../../machines/screening/screen.ts"
import type { KycPackageView, KycUpdateResult, ReonboardingResult } from "../../../../machines/client/KycWire.ts"
import { accept, conflict, type Refusal, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidSections } from "../../../../machines/shared/RequestBody.ts"
import {
  ActorHost,
  type DispatchError,
  FactNeeded,
  type StoreAnswer,
  type Turn,
  Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { inTurn } from "../../../engine/withinTime.ts"
import { Settings } from "../../../Settings.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PackageRow } from "../../../tables/kyc.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject, instanceOf, readersClient } from "../../account/clientState.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import { clearedFor, identityText } from "../../screening/dispositions.ts"
import { declaredRisks, personFacts } from "./sectionValues.ts"
import {
  changesIdentity,
  claimsAfter,
  claimsToQuery,
  type KycBase,
  kycBase,
  type KycUpdatePlan,
  sameBase,
  sectionsAfter,
  storedSections
} from "./KycUpdatePlan.ts"
import { declaredReasons, reviewReasons } from "./kycDecisions.ts"
import { reonboardClient } from "../client/reonboardClient.ts"
import { screenedPerson, seenBy } from "../screening/rescreening.ts"
import { reviseClient } from "./reviseClient.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { samePersonAs } from "../client/samePerson.ts"
import { Screening } from "../../screening/Screening.ts"

export type KycUpdateVerdict = Verdict<KycUpdateResult | ReonboardingResult>

export class KycUpdates extends Context.Service<
  KycUpdates,
  {
    update(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<KycUpdateVerdict>
    ): Effect.Effect<KycUpdateVerdict, DispatchError>
    /** The latest revision; null when the partner has no such client, or the client no package. */
    latest(partnerId: number, clientId: number): Effect.Effect<KycPackageView | null, Unavailable>
  }
>()("brokerage/runtime/services/clients/kyc/KycUpdates") {
  static readonly layer = Layer.effect(
    KycUpdates,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const screening = yield* Screening
      const settings = yield* Settings
      const sealing = yield* SealingService
      const stored = yield* RowReads
      const alone = makeQueues()

      /**
       * The declarations of this update that the previous revision did not have. A declaration that compliance has
       * judged must not open a case with every update that repeats it (A1-28).
       */
      const declaredNow = ({ kycPackageId, revision }: KycBase, { kyc, attestation }: KycUpdateBody, pep: Json) =>
        Effect.gen(function* () {
          const now = declaredRisks(kyc.pep ?? null, attestation)
          if (!now.pep && !now.high) return []
          const conditions = [
            { column: "package_id", value: kycPackageId },
            { column: "revision", value: revision }
          ]
          const [latest] = yield* stored.page("kycRevisions", conditions, { limit: 1 })
          const before = declaredRisks(pep, latest?.attestation ?? null)
          return declaredReasons({ pep: now.pep && !before.pep, high: now.high && !before.high }, settings)
        })

      const planOf = (
        clientId: number,
        base: KycBase,
        request: KycUpdateBody
      ): Effect.Effect<KycUpdatePlan, Unavailable> =>
        Effect.gen(function* () {
          const rows = yield* stored.page("blockPayloads", [{ column: "client_id", value: clientId }], { limit: 12 })
          const before = storedSections(rows)
          const sections = sectionsAfter(request, before)
          const identityChanged = changesIdentity(request, before)
          const pep = rows.find(({ code }) => code === "PEP")?.data ?? null
          const personKey = personKeyOf(personFacts(sections), sealing.fingerprint)
          const holders = yield* stored.holders(claimsToQuery(base.personKey, personKey))
          const moves = base.reonboarding || personKey !== base.personKey
          const same = moves ? yield* samePersonAs(stored, personKey, clientId) : null
          const person = screenedPerson(sections.personalInfo)
          const found = identityChanged || base.reonboarding ? { pairs: screening.find(person) } : null
          const cleared = clearedFor(base.dispositions, sealing.fingerprint(identityText(person)))
          return {
            base,
            request,
            sections,
            identityChanged,
            screened: found === null ? null : { ...resultOf(found.pairs, cleared), ...screening.lists() },
            unseen: found === null ? null : resultOf(found.pairs, seenBy(cleared, base.shown)),
            personKey,
            claims: claimsAfter(clientId, base.personKey, personKey, holders, same),
            declared: yield* declaredNow(base, request, pep)
          }
        })

      const decide = (turn: Turn, partner: PartnerView, plan: KycUpdatePlan): KycUpdateVerdict => {
        if (partner.reliance !== "APPROVED") return refuse({ _tag: "RelianceNotApproved" })
        const now = kycBase(turn.state, partner.row.id)
        const client = turn.state.one("clients") as ClientRow
        if (now === null) return refuse(unknown("Client"))
        const ended = endedRefusal(client)
        if (ended !== null) return refuse(ended)
        if (!sameBase(plan.base, now, referredDocuments(plan.request.kyc))) throw new FactNeeded({ fact: "KYC base" })
        const at = { turn, instance: instanceOf(client, partner), by: "PARTNER" } as const
        const kyc = turn.state.one("kycPackages") as PackageRow
        const { screened, request } = plan
        if (!plan.base.reonboarding || screened === null) return accept(reviseClient(at, client, kyc, plan))
        const declared = declaredRisks(request.kyc.pep ?? null, request.attestation)
        const reasons = [
          ...reviewReasons(declared, screened, settings),
          ...(plan.claims.same === null ? [] : (["DUPLICATE_PERSON"] as const))
        ]
        const threshold = settings.sourceOfWealthThreshold
        return accept(reonboardClient(at, client, kyc, { plan, screened, reasons, threshold }))
      }

      const attempt = (
        caller: Caller,
        clientId: number,
        body: unknown,
        store: StoreAnswer<KycUpdateVerdict>
      ): Effect.Effect<KycUpdateVerdict, DispatchError> =>
        Effect.gen(function* () {
          const partnerId = caller.partner.row.id
          const base = yield* host.read(clientSubject(clientId), (state) => kycBase(state, partnerId))
          if (base === null) return refuse(unknown("Client"))
          const decoded = decodeKycUpdate(body, {
            today: clock.now(),
            blockedJurisdictions: settings.blockedJurisdictions,
            identityProviders: settings.identityProviders,
            documents: base.documents,
            reonboarding: base.reonboarding
          })
          if (!decoded.ok) return refuse(invalidSections(decoded.errors))
          const plan = yield* planOf(clientId, base, decoded.body)
          return yield* host.dispatch({
            subject: clientSubject(clientId),
            by: caller.by,
            partner: () => directory.stamp(partnerId),
            decide: (turn) => decide(turn, partnerNow(directory, caller), plan),
            store
          })
        })

      /**
       * Restarts an update whose turn found another state than was read, or whose commit lost the claim of a person to
       * another client.
       */
      const settled = (
        work: Effect.Effect<KycUpdateVerdict, DispatchError>,
        tries: number
      ): Effect.Effect<KycUpdateVerdict, DispatchError> =>
        Effect.catchIf(work, isStale, () =>
          tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : settled(work, tries - 1)
        )

      return KycUpdates.of({
        update: (caller, clientId, body, store) =>
          alone(clientId, settled(attempt(caller, clientId, body, store), redecideLimit)),
        latest: (partnerId, clientId) =>
          Effect.gen(function* () {
            const found = yield* host.read(clientSubject(clientId), (state) => {
              const client = readersClient(state, partnerId)
              const kyc = state.one("kycPackages")
              return client === null || kyc === undefined ? null : { client, kyc }
            })
            if (found === null) return null
            const { kycPackageId, revision } = contextOf(found.kyc)
            const [row] = yield* stored.page(
              "kycRevisions",
              [
                { column: "package_id", value: kycPackageId },
                { column: "revision", value: revision }
              ],
              { limit: 1 }
            )
            return row === undefined ? null : packageView(found.client, found.kyc, row)
          })
      })
    })
  )
}

/** The most restarts of an update, after which its caller must retry. */
const redecideLimit = 8
/** The most queued updates per client. Further updates are refused, and their caller must retry. */
const waitingLimit = 64

const isStale = (error: DispatchError): boolean =>
  error._tag === "FactNeeded" ||
  (error._tag === "ClaimLost" && error.claims.every(({ name }) => name.startsWith("person:")))

/** Runs the updates of one client in sequence, and those of different clients concurrently. */
const makeQueues = () => {
  const queues = new Map<number, { readonly one: Semaphore.Semaphore; waiting: number }>()
  const enter = (clientId: number) =>
    Effect.suspend(() => {
      const queue = queues.get(clientId) ?? { one: Semaphore.makeUnsafe(1), waiting: 0 }
      if (queue.waiting >= waitingLimit) return Effect.fail(new Unavailable({ unknown: false }))
      queues.set(clientId, queue)
      queue.waiting++
      return Effect.succeed(queue)
    })
  return <A, E>(clientId: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> =>
    Effect.acquireUseRelease(
      enter(clientId),
      (queue) => inTurn(queue.one, work),
      (queue) =>
        Effect.sync(() => {
          if (--queue.waiting === 0) queues.delete(clientId)
        })
    )
}

/** The reason why the client can no longer be revised, or null (doc 1, Client lifecycle and level; A1-48). */
const endedRefusal = ({ state }: ClientRow): Refusal | null => {
  if (state === "CLOSED") return conflict("ACCOUNT_CLOSED", "The account is closed.")
  return state === "KYC_REJECTED"
    ? conflict("CLIENT_REFUSED", "The client was refused for good: its KYC can't be revised.")
    : null
}

const contextOf = (kyc: PackageRow): KycPackageContext => kyc.context

const packageView = (
  client: ClientRow,
  kyc: PackageRow,
  row: Pick<KycPackageView, "payload" | "attestation" | "receivedAt">
): KycPackageView => {
  const { revision, reviewedBy, reviewedAt, reviewNote } = contextOf(kyc)
  const noteShown = kyc.state === "DOCUMENTS_REQUESTED" || kyc.state === "REJECTED"
  return {
    kycPackageId: kyc.id,
    partnerId: kyc.partnerId,
    clientId: client.id,
    clientUid: client.uid,
    revision,
    status: kyc.state,
    receivedAt: row.receivedAt,
    payload: row.payload,
    attestation: row.attestation,
    reviewedBy,
    reviewedAt,
    reviewNote: noteShown ? reviewNote : null
  }
}
