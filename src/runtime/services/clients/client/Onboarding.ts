/**
 * POST /clients: validation, screening, the grant and all stored rows, in one commit of the new client's mailbox. The
 * claims of that commit decide uniqueness of reference, e-mail and person, so that races end in exactly one client
 * (doc 1, Rules of POST /clients; D1, D2, D3, A1-16, SC-ONB-06).
 */
import { Context, Effect, Layer } from "effect"
import type { OnboardingResult } from "../../../../machines/client/ClientWire.ts"
import type { Json } from "../../../../machines/shared/Json.ts"
import { decodeOnboarding, type OnboardingBody } from "../../../../machines/kyc/OnboardingBody.ts"
import { personKeyOf } from "../../../../machines/kyc/personKey.ts"
import { resultOf } from "../../../../machines/screening/screen.ts"
import { accept, conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidSections } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type StoreAnswer, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { isAnswerClaim, type Claim } from "../../../engine/journal/Commit.ts"
import { IdsExhausted } from "../../../engine/journal/IdBlocks.ts"
import { Journal } from "../../../engine/journal/Journal.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { Settings } from "../../../Settings.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { declaredRisks, personFacts, type PersonSections } from "../kyc/sectionValues.ts"
import { reviewReasons } from "../kyc/kycDecisions.ts"
import { onboardClient, onboardingClaims, type OnboardingPlan } from "./onboardClient.ts"
import { screenedPerson } from "../screening/rescreening.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { type Namesake, samePersonAs } from "./samePerson.ts"
import { setSandboxTimers } from "./sandboxTimers.ts"
import { Screening } from "../../screening/Screening.ts"

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
>()("brokerage/runtime/services/clients/client/Onboarding") {
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

      /** The id of the new client, taken before the turn because it names the mailbox. */
      const newClientId: Effect.Effect<number> = Effect.suspend(() => {
        try {
          return Effect.succeed(journal.nextId("client"))
        } catch (error) {
          return error instanceof IdsExhausted ? Effect.andThen(journal.idsRefilled, newClientId) : Effect.die(error)
        }
      })

      const planOf = (caller: Caller, request: OnboardingBody, clientId: number): OnboardingPlan => {
        // The sections as received. Validation has checked that their fields exist.
        const sections = request.received.kyc as unknown as PersonSections & { readonly pep: Json }
        const screened = resultOf(screening.find(screenedPerson(sections.personalInfo)), new Set())
        return {
          partner: directory.partner(caller.partner.row.id) ?? caller.partner,
          request,
          clientId,
          personKey: personKeyOf(personFacts(sections), sealing.fingerprint),
          screened,
          ...screening.lists(),
          reasons: reviewReasons(declaredRisks(sections.pep, request.received.attestation as Json), screened, settings),
          duplicateOf: null,
          refused: [],
          threshold: settings.sourceOfWealthThreshold
        }
      }

      const attempt = (caller: Caller, plan: OnboardingPlan, store: StoreAnswer<OnboardingVerdict>) =>
        host.dispatch({
          subject: clientSubject(plan.clientId),
          by: caller.by,
          partner: () => directory.stamp(plan.partner.row.id),
          decide: (turn): OnboardingVerdict => {
            const partner = partnerNow(directory, caller)
            if (partner.reliance !== "APPROVED") return refuse({ _tag: "RelianceNotApproved" })
            const result = onboardClient(turn, { ...plan, partner })
            if (settings.sandbox) setSandboxTimers(turn, plan.request.kyc.personalInfo.last_name)
            return accept(result)
          },
          store
        })

      /**
       * Repeats the attempt until its commit loses no claim. A lost reference or e-mail address ends the repetition
       * with a refusal.
       */
      const run = (
        caller: Caller,
        plan: OnboardingPlan,
        store: StoreAnswer<OnboardingVerdict>
      ): Effect.Effect<OnboardingVerdict, DispatchError> =>
        Effect.catchTag(attempt(caller, plan, store), "ClaimLost", (error) =>
          error.claims.some((claim) => isAnswerClaim(claim.name))
            ? Effect.fail(error)
            : afterLoss(caller, plan, error.claims, store)
        )

      /**
       * Handles a commit that lost a claim. The holder of the claim decides the reply, that of the reference before
       * that of the e-mail address (A1-16).
       */
      const afterLoss = (
        caller: Caller,
        plan: OnboardingPlan,
        lost: ReadonlyArray<Claim>,
        store: StoreAnswer<OnboardingVerdict>
      ): Effect.Effect<OnboardingVerdict, DispatchError> => {
        const holder = (prefix: string) => lost.find((claim) => claim.name.startsWith(prefix))
        const ref = holder("ref:")
        if (ref !== undefined) return referenceTaken(ref.owner)
        if (holder("email:") !== undefined) return Effect.succeed(refuse({ _tag: "EmailTaken" }))
        const person = holder("person:")
        if (person === undefined) return Effect.die(new Error("a claim was lost that onboarding does not make"))
        return Effect.flatMap(samePersonAs(stored, plan.personKey, plan.clientId), (same) => {
          const refused = same?.refused ?? []
          return run(caller, duplicateOf(plan, { clientId: refused[0] ?? person.owner, refused }), store)
        })
      }

      const referenceTaken = (clientId: number): Effect.Effect<OnboardingVerdict, Unavailable> =>
        host.read(clientSubject(clientId), (state) => {
          const client = state.one("clients")
          // A client whose reliance was rejected can be onboarded again by the partner. A client that is refused for
          // good or closed can't.
          const rejected = client?.state === "KYC_PENDING" && state.one("kycPackages")?.state === "REJECTED"
          return refuse(
            conflict(
              rejected ? "REONBOARD" : "REFERENCE_REUSED",
              rejected
                ? "This partnerClientRef names a client whose reliance was rejected: onboard it again with the route given."
                : "This partnerClientRef was used for another client.",
              rejected
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
            return Effect.succeed(refuse(invalidSections(decoded.errors)))
          }
          return Effect.gen(function* () {
            const plan = planOf(caller, decoded.body, yield* newClientId)
            // A claim that another client holds already would only be lost by a commit, so the service refuses without a commit.
            // Between requests at the same time the claims decide.
            const taken = yield* stored.holders(onboardingClaims(plan))
            if (taken.length > 0) return yield* afterLoss(caller, plan, taken, store)
            const same = yield* samePersonAs(stored, plan.personKey, plan.clientId)
            return yield* run(caller, same === null ? plan : duplicateOf(plan, same), store)
          })
        }
      })
    })
  )
}

/** The plan for the onboarding of a known person: it claims no person, and compliance reviews the new client. */
const duplicateOf = (
  plan: OnboardingPlan,
  { clientId, refused }: Pick<Namesake, "clientId" | "refused">
): OnboardingPlan => ({
  ...plan,
  duplicateOf: clientId,
  refused,
  reasons: [...plan.reasons, "DUPLICATE_PERSON"]
})
