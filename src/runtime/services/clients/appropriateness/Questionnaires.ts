/**
 * The appropriateness questionnaire in force: the built-in version 1 until the operator publishes another. This is a
 * projection: loaded at the start and changed by committed rows only (F24, A1-39).
 */
import { Context, Effect, Layer } from "effect"
import { decodeQuestionnaire, type Questionnaire } from "../../../../machines/appropriateness/Questionnaire.ts"
import { questionnaire1 } from "../../../../machines/appropriateness/questionnaire1.ts"
import { type Answers, answersFor, type Outcome } from "../../../../machines/appropriateness/scoring.ts"
import { accept, conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { Settings } from "../../../Settings.ts"
import type { QuestionnaireRow } from "../../../tables/appropriateness.ts"
import { type OperatorCaller, systemInstance, systemSubject } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { subscribe } from "../../../subscriptions.ts"

export interface CurrentQuestionnaire {
  readonly version: number
  readonly content: Questionnaire
}

export interface Published {
  readonly version: number
  readonly questions: number
  readonly publishedAt: number
}

export class Questionnaires extends Context.Service<
  Questionnaires,
  {
    readonly current: () => CurrentQuestionnaire
    /** Publishes the content as the next version; `file` is any JSON value. */
    publish(caller: OperatorCaller, file: unknown): Effect.Effect<Verdict<Published>, DispatchError>
    /** Sandbox only: sample answers that lead to the outcome. */
    answers(outcome: Outcome): Verdict<{ readonly version: number; readonly answers: Answers }>
  }
>()("brokerage/runtime/services/clients/appropriateness/Questionnaires") {
  static readonly layer = Layer.effect(
    Questionnaires,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const settings = yield* Settings
      const stored = yield* RowReads
      let current: CurrentQuestionnaire = { version: 1, content: questionnaire1 }
      const follow = ({ version, content }: QuestionnaireRow): void => {
        if (version > current.version) current = { version, content }
      }
      for (const row of yield* Effect.orDie(stored.all("questionnaires"))) follow(row)
      subscribe(host, "Questionnaires", { questionnaires: follow })

      return Questionnaires.of({
        current: () => current,
        publish: (caller, file) => {
          const decoded = decodeQuestionnaire(file)
          if (!decoded.ok) return Effect.succeed(refuse(invalidBody(decoded)))
          const content = decoded.questionnaire
          return host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn): Verdict<Published> => {
              // Reads the mailbox's rows instead of the projection, so that two concurrent publications get different
              // numbers.
              const before = Math.max(1, ...turn.state.all("questionnaires").map(({ version }) => version))
              const version = before + 1
              turn.draft.put("questionnaires", {
                version,
                content,
                publishedAt: turn.now
              })
              applyEffects(turn, { ...systemInstance, object: `questionnaire:${version}` }, [
                {
                  type: "audit",
                  action: "appropriateness.publish",
                  before: `version ${before}`,
                  after: `version ${version}`,
                  reason: null
                }
              ])
              return accept({ version, questions: content.questions.length, publishedAt: turn.now })
            }
          })
        },
        answers: (outcome) =>
          settings.sandbox
            ? accept({ version: current.version, answers: answersFor(current.content, outcome) })
            : refuse(conflict("SANDBOX_ONLY", "Answers for an outcome are given in a sandbox service only."))
      })
    })
  )
}
