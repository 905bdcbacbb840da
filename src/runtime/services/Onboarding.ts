/**
 * POST /clients (document 1, Rules of POST /clients; D1, D2, D3): validation, screening, the grant and everything that
 * is stored, in one commit of the new client's mailbox. Uniqueness of reference, e-mail and person is decided by
 * claims of that commit, so that races end in exactly one client.
 */
import { Context, Effect, Layer } from "effect"
import type { OnboardingResult } from "../../machines/client/ClientWire.ts"
import type { CaseReason } from "../../machines/compliance/Case.ts"
import { decodeOnboarding, type OnboardingRequest } from "../../machines/kyc/OnboardingRequest.ts"
import type { ScreeningResult } from "../../machines/screening/screen.ts"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, type StoreAnswer, type Unavailable } from "../engine/ActorHost.ts"
import { BusinessClock } from "../engine/BusinessClock.ts"
import { answerClaim, type Claim } from "../engine/Commit.ts"
import { IdsExhausted } from "../engine/IdBlocks.ts"
import { Journal } from "../engine/Journal.ts"
import { SealingService } from "../engine/SealingService.ts"
import { Settings, type SettingsShape } from "../Settings.ts"
import { type Caller, presentPartner } from "./Caller.ts"
import { clientSubject } from "./clientState.ts"
import { Directory } from "./Directory.ts"
import { onboardClient, onboardingClaims, type OnboardingPlan } from "./onboardClient.ts"
import { RowReads } from "./RowReads.ts"
import { Screening } from "./Screening.ts"

export type OnboardingVerdict = Verdict<OnboardingResult>

export class Onboarding extends Context.Service<
  Onboarding,
  {
    onboard(
      caller: Caller,
      body: unknown,
      store: StoreAnswer<OnboardingVerdict>
    ): Effect.Effect<OnboardingVerdict, DispatchError>
  }
>()("brokerage/runtime/services/Onboarding") {
  static readonly layer = Layer.effect(
    Onboarding,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const journal = yield* Journal
      const directory = yield* Directory
      const screening = yield* Screening
      const settings = yield* Settings
      const sealing = yield* SealingService
      const stored = yield* RowReads

      /** Ends the request without a client: the refusal is stored for a keyed request. */
      const refused = (verdict: OnboardingVerdict, store: StoreAnswer<OnboardingVerdict>) => {
        const row = store(verdict, { now: clock.now() })
        return row === null ? Effect.succeed(verdict) : Effect.as(host.record({ answers: [row] }), verdict)
      }

      /** The new client's id names its mailbox, so it is taken before the turn. */
      const newClientId: Effect.Effect<number> = Effect.suspend(() => {
        try {
          return Effect.succeed(journal.nextId("client"))
        } catch (error) {
          return error instanceof IdsExhausted ? Effect.andThen(journal.idsRefilled, newClientId) : Effect.die(error)
        }
      })

      const planOf = (caller: Caller, request: OnboardingRequest, clientId: number): OnboardingPlan => {
        const screened = screening.screen(personOf(request), new Set())
        return {
          partner: directory.partner(caller.partner.row.id) ?? caller.partner,
          request,
          clientId,
          personKey: sealing.fingerprint(personText(request)),
          screened,
          listVersion: screening.version(),
          reasons: reviewReasons(request, screened, settings),
          duplicateOf: null,
          threshold: settings.sourceOfWealthThreshold
        }
      }

      const attempt = (caller: Caller, plan: OnboardingPlan, store: StoreAnswer<OnboardingVerdict>) =>
        host.dispatch({
          subject: clientSubject(plan.clientId),
          by: caller.by,
          partner: () => directory.stamp(plan.partner.row.id),
          decide: (turn): OnboardingVerdict => {
            const partner = presentPartner(directory, caller)
            if (partner.reliance !== "APPROVED") return refuse({ _tag: "RelianceNotApproved" })
            return accept(onboardClient(turn, { ...plan, partner }))
          },
          store
        })

      /** Attempts until nothing unique is lost any more; a lost reference or e-mail ends it. */
      const run = (
        caller: Caller,
        plan: OnboardingPlan,
        store: StoreAnswer<OnboardingVerdict>
      ): Effect.Effect<OnboardingVerdict, DispatchError> =>
        Effect.catchTag(attempt(caller, plan, store), "ClaimLost", (error) =>
          error.claims.some((claim) => claim.name.startsWith(answerClaim(caller.partner.row.id, "")))
            ? Effect.fail(error)
            : afterLoss(caller, plan, error.claims, store)
        )

      /** The commit lost a unique fact: who holds it decides the answer (A1-16: the reference before the e-mail). */
      const afterLoss = (
        caller: Caller,
        plan: OnboardingPlan,
        lost: ReadonlyArray<Claim>,
        store: StoreAnswer<OnboardingVerdict>
      ): Effect.Effect<OnboardingVerdict, DispatchError> => {
        const holder = (prefix: string) => lost.find((claim) => claim.name.startsWith(prefix))
        const ref = holder("ref:")
        if (ref !== undefined) return Effect.flatMap(referenceTaken(ref.owner), (verdict) => refused(verdict, store))
        if (holder("email:") !== undefined) return refused(refuse({ _tag: "EmailTaken" }), store)
        const person = holder("person:")
        if (person === undefined) return Effect.die(new Error("a claim was lost that onboarding does not make"))
        // The same person is onboarded all the same, but compliance looks; this attempt claims no person.
        return run(
          caller,
          { ...plan, duplicateOf: person.owner, reasons: [...plan.reasons, "DUPLICATE_PERSON"] },
          store
        )
      }

      const referenceTaken = (clientId: number): Effect.Effect<OnboardingVerdict, Unavailable> =>
        host.read(clientSubject(clientId), (state) => {
          const client = state.one("clients")
          const rejected = state.one("kycPackages")?.state === "REJECTED"
          return refuse(
            conflict(
              rejected
                ? "This partnerClientRef names a client whose reliance was rejected: onboard it again with the route given."
                : "This partnerClientRef was used for another client.",
              rejected && client !== undefined
                ? {
                    clientId,
                    clientUid: client.uid,
                    kycPackageStatus: "REJECTED",
                    reonboardWith: `PUT /partner/v1/clients/${clientId}/kyc`
                  }
                : null
            )
          )
        })

      return Onboarding.of({
        onboard: (caller, body, store) => {
          const decoded = decodeOnboarding(body, {
            today: clock.now(),
            blockedJurisdictions: settings.blockedJurisdictions,
            identityProviders: settings.identityProviders
          })
          if (!decoded.ok) {
            return refused(
              refuse(
                Object.keys(decoded.errors).length === 0
                  ? { _tag: "Invalid", sentence: "The request body must be a JSON object.", errors: null }
                  : invalidFields(decoded.errors)
              ),
              store
            )
          }
          return Effect.gen(function* () {
            const plan = planOf(caller, decoded.request, yield* newClientId)
            // What is taken already is told without a commit that can only lose; races are decided by the claims.
            const taken = yield* stored.holders(onboardingClaims(plan))
            return yield* taken.length === 0 ? run(caller, plan, store) : afterLoss(caller, plan, taken, store)
          })
        }
      })
    })
  )
}

const personOf = ({ kyc: { personalInfo } }: OnboardingRequest) => ({
  firstName: personalInfo.first_name,
  middleName: personalInfo.middle_name ?? null,
  lastName: personalInfo.last_name,
  dob: personalInfo.date_of_birth,
  nationalities: personalInfo.citizenships
})

/** What makes two onboardings the same person: names, birth date and document number (A1-28). */
const personText = ({ kyc: { personalInfo, identification } }: OnboardingRequest): string =>
  [
    personalInfo.first_name,
    personalInfo.middle_name ?? "",
    personalInfo.last_name,
    personalInfo.date_of_birth,
    identification.number
  ]
    .map((part) => part.toUpperCase().replaceAll(/\s+/g, " "))
    .join("\u0000")

/** Why the automatic grant refuses, the reason that is told first (A1-28). */
const reviewReasons = (
  request: OnboardingRequest,
  screened: ScreeningResult,
  settings: SettingsShape
): ReadonlyArray<CaseReason> => {
  const { pep } = request.kyc
  const reasons: Array<CaseReason> = []
  if (screened.outcome === "HIT") reasons.push("SCREENING_HIT")
  if (screened.outcome === "POSSIBLE") reasons.push("SCREENING_POSSIBLE_MATCH")
  if (settings.reviewDeclaredPep && (pep.is_pep || pep.has_associations)) reasons.push("PEP_DECLARED")
  if (settings.reviewHighRating && request.attestation.riskRating === "HIGH") reasons.push("HIGH_RISK_RATING")
  return reasons
}
