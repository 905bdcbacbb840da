/**
 * The partner's calls for level MICA_MIFID: test, acknowledgement and the MiFID blocks. Each is one turn of the
 * client's mailbox, so of concurrent calls exactly one moves the level (doc 1, Appropriateness and MiFID blocks; D1,
 * D19).
 */
import { Context, Effect, Layer } from "effect"
import { decodeSubmission } from "../../../../machines/appropriateness/AppropriatenessBody.ts"
import type { AcknowledgeResult, AssessmentResult } from "../../../../machines/appropriateness/Assessment.ts"
import { type ServedQuestionnaire, servedOf } from "../../../../machines/appropriateness/Questionnaire.ts"
import type { MifidResult } from "../../../../machines/client/ClientWire.ts"
import { decodeMifid } from "../../../../machines/mifid/MifidBody.ts"
import { refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidSections } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type StoreAnswer } from "../../../engine/mailbox/ActorHost.ts"
import { Settings } from "../../../Settings.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import type { ClientTurn } from "../client/clientDecisions.ts"
import { clientSubject, instanceOf, ownClient } from "../../account/clientState.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import { acknowledgeAssessment, submitAssessment, refusalByFirst, writeMifid } from "../mifid/mifidDecisions.ts"
import { Questionnaires } from "./Questionnaires.ts"

type Write<A> = (
  caller: Caller,
  clientId: number,
  body: unknown,
  store: StoreAnswer<Verdict<A>>
) => Effect.Effect<Verdict<A>, DispatchError>

export class Appropriateness extends Context.Service<
  Appropriateness,
  {
    /** The questionnaire in force as partners get it, without points. */
    readonly questionnaire: () => ServedQuestionnaire
    readonly submit: Write<AssessmentResult>
    readonly acknowledge: Write<AcknowledgeResult>
    readonly writeMifid: Write<MifidResult>
  }
>()("brokerage/runtime/services/clients/appropriateness/Appropriateness") {
  static readonly layer = Layer.effect(
    Appropriateness,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const settings = yield* Settings
      const questionnaires = yield* Questionnaires

      const turnOf = <A>(
        caller: Caller,
        clientId: number,
        store: StoreAnswer<Verdict<A>>,
        decide: (at: ClientTurn, client: ClientRow, partner: PartnerView) => Verdict<A>
      ): Effect.Effect<Verdict<A>, DispatchError> =>
        host.dispatch({
          subject: clientSubject(clientId),
          by: caller.by,
          partner: () => directory.stamp(caller.partner.row.id),
          decide: (turn): Verdict<A> => {
            const client = ownClient(turn.state, caller.partner.row.id)
            if (client === null) return refuse(unknown("Client"))
            const partner = partnerNow(directory, caller)
            return decide({ turn, instance: instanceOf(client, partner), by: "PARTNER" }, client, partner)
          },
          store
        })

      return Appropriateness.of({
        questionnaire: () => {
          const { version, content } = questionnaires.current()
          return servedOf(version, content)
        },
        submit: (caller, clientId, body, store) => {
          const decoded = decodeSubmission(body)
          return decoded.ok
            ? turnOf(caller, clientId, store, (at, client) =>
                submitAssessment(at, client, decoded.body, questionnaires.current())
              )
            : Effect.succeed(refuse(refusalByFirst(decoded.errors)))
        },
        acknowledge: (caller, clientId, body, store) =>
          turnOf(caller, clientId, store, (at, client) => acknowledgeAssessment(at, client, body)),
        writeMifid: (caller, clientId, body, store) => {
          const decoded = decodeMifid(body)
          return decoded.ok
            ? turnOf(caller, clientId, store, (at, client, partner) =>
                partner.reliance === "APPROVED"
                  ? writeMifid(at, client, decoded.body, settings.sourceOfWealthThreshold)
                  : refuse({ _tag: "RelianceNotApproved" })
              )
            : Effect.succeed(refuse(invalidSections(decoded.errors)))
        }
      })
    })
  )
}
