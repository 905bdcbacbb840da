/**
 * The form of a scenario file (docs/scenarios.md): participants, then steps of four actors (partner, operator, venue, clock)
 * with expectations. The first key of a step names its kind (doc 3, Sandbox; A1-51).
 */
import { Schema } from "effect"

const Text = Schema.String.annotate({ message: "must be text" }).check(
  Schema.isMinLength(1, { message: "must not be empty" })
)
const Members = Schema.Record(Schema.String, Schema.Unknown).annotate({ message: "must be a map" })
const Names = Schema.Array(Text).annotate({ message: "must be a list of names" })
const Count = Schema.Number.annotate({ message: "must be a whole number" }).check(
  Schema.isInt({ message: "must be a whole number" })
)
/** A schema for texts that match a pattern, with one message for any other value. */
const shaped = (pattern: RegExp, message: string) =>
  Schema.String.annotate({ message }).check(Schema.isPattern(pattern, { message }))
const Duration = shaped(/^[1-9][0-9]{0,8}(ms|[smhd])$/, "must be a duration such as 500ms, 15s or 8h")
/** Expected texts and figures may be matchers (`!matches`, `!any`), so they are compared, not decoded. */
const Expected = Schema.Unknown

/** A partner firm that the runner creates, by default with reliance APPROVED and generous limits. */
const PartnerForm = Schema.Struct({
  custody: Schema.optionalKey(
    Schema.Literals(["BROKER", "PARTNER"]).annotate({ message: "must be BROKER or PARTNER" })
  ),
  /** True: the service decides deposits and withdrawals within the request. */
  sandbox: Schema.optionalKey(Schema.Boolean.annotate({ message: "must be true or false" })),
  reliance: Schema.optionalKey(Text),
  read: Schema.optionalKey(Count),
  trade: Schema.optionalKey(Count)
}).annotate({ message: "must be a map" })
export type PartnerForm = typeof PartnerForm.Type

/** Last letters of the codes of further firms; the partner's is X. */
export const otherFirms = "YZABCDEFGH"

const Given = Schema.Struct({
  partner: Schema.optionalKey(PartnerForm),
  /** Further firms, by the name that steps use in `by`. */
  partners: Schema.optionalKey(
    Schema.Record(Text, PartnerForm)
      .annotate({ message: "must be a map of partners" })
      .check(Schema.isMaxProperties(otherFirms.length, { message: `must have at most ${otherFirms.length} partners` }))
  ),
  /** ACTIVE clients of the partner at level MICA. */
  clients: Schema.optionalKey(Names),
  /** Clients at level MICA_MIFID with collateral of 1,000 USDC (PARTNER custody). */
  traders: Schema.optionalKey(Names)
}).annotate({ message: "must be a map" })

export const ScenarioForm = Schema.Struct({
  id: shaped(/^SC-[A-Z]{3}-[0-9]{2}[a-z]?$/, "must be an id such as SC-CUS-01"),
  title: Text,
  /**
   * The scenario changes state that all scenarios share (the clock, the questionnaire, the venue), so no other one runs at the
   * same time.
   */
  alone: Schema.optionalKey(Schema.Boolean.annotate({ message: "must be true or false" })),
  /**
   * The scenario leaves the service in another state, so it needs a service of its own. Scenarios with killing steps always get
   * one.
   */
  own: Schema.optionalKey(Schema.Boolean.annotate({ message: "must be true or false" })),
  given: Schema.optionalKey(Given),
  steps: Schema.Array(Schema.Unknown)
    .annotate({ message: "must be a list of steps" })
    .check(
      Schema.isMinLength(1, { message: "must have at least one step" }),
      Schema.isMaxLength(200, { message: "must have at most 200 steps" })
    )
}).annotate({ message: "must be a map with id, title and steps" })

/** The expected answer of a step. An empty form expects a success. */
const AnswerForm = Schema.Struct({
  status: Schema.optionalKey(Count),
  code: Schema.optionalKey(Count),
  msg: Schema.optionalKey(Expected),
  /** `data` of the envelope; of a command, its JSON document. */
  data: Schema.optionalKey(Expected),
  /** The whole body, for routes without an envelope and for answers with an empty body. */
  body: Schema.optionalKey(Expected),
  /** The bytes of the body as text. */
  text: Schema.optionalKey(Expected),
  /** Sentences of invalid fields, by path. */
  errors: Schema.optionalKey(Expected),
  /** Whether the answer is the stored answer of an Idempotency-Key. */
  replayed: Schema.optionalKey(Expected),
  retryAfter: Schema.optionalKey(Expected)
}).annotate({ message: "must be a map" })
export type AnswerForm = typeof AnswerForm.Type

const common = {
  /** Repeats the step until the expectation holds, at most this long: for reads, and writes with a key. */
  within: Schema.optionalKey(Duration),
  expect: Schema.optionalKey(AnswerForm),
  /** Variables by name: the path in the answer, such as `data.clientId`. */
  save: Schema.optionalKey(Schema.Record(Text, Text).annotate({ message: "must be a map of variables to paths" }))
} as const

export const PartnerStep = Schema.Struct({
  /** `METHOD /path` below /partner/v1, or a short name with its words. */
  partner: Text,
  by: Schema.optionalKey(Text),
  /** READ, none, or a literal key; default: a TRADE key of the partner. */
  key: Schema.optionalKey(Text),
  /** Members of the body; with a short name they replace those of its sample. */
  body: Schema.optionalKey(Schema.Unknown),
  /** New values for members of the sample, by dotted path. */
  with: Schema.optionalKey(Members),
  without: Schema.optionalKey(Names),
  idempotencyKey: Schema.optionalKey(Text),
  ...common
})
export type PartnerStep = typeof PartnerStep.Type

export const OperatorStep = Schema.Struct({
  /** A line of the `brokerage` command, or `METHOD /path` below /operator/v1. */
  operator: Text,
  body: Schema.optionalKey(Schema.Unknown),
  ...common
})
export type OperatorStep = typeof OperatorStep.Type

export const VenueStep = Schema.Struct({
  /** A line of `brokerage sim venue`. */
  venue: Text,
  ...common
})
export type VenueStep = typeof VenueStep.Type

/** A duration, or a month and day such as 04-07: then noon UTC of the next such day. */
const Ahead = shaped(
  /^([1-9][0-9]{0,8}(ms|[smhd])|(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8]))$/,
  "must be a duration such as 500ms, 15s or 8h, or a day such as 04-07, at most the 28th"
)
export const ClockStep = Schema.Struct({ clock: Ahead })
export type ClockStep = typeof ClockStep.Type

const ReactionForm = Schema.Union([
  Schema.Int,
  Schema.Literals(["silent", "reset"]),
  Schema.Struct({
    status: Schema.Int,
    after: Schema.optionalKey(Duration),
    location: Schema.optionalKey(Text)
  })
]).annotate({ message: "must be a status, silent, reset, or {status, after, location}" })
export type ReactionForm = typeof ReactionForm.Type

export const ReceiverStep = Schema.Struct({
  /** Registers the receiver of this name (PUT /webhook), which rotates the secret. A receiver that does not run is started. */
  receiver: Text,
  by: Schema.optionalKey(Text),
  /** The receiver's next answers, in order; the last one repeats. */
  answers: Schema.optionalKey(
    Schema.Array(ReactionForm)
      .annotate({ message: "must be a list of answers" })
      .check(Schema.isMinLength(1, { message: "must have at least one answer" }))
  ),
  /** The new lead of the receiver's clock over the service's clock; absent: the lead ends. */
  ahead: Schema.optionalKey(Duration),
  /** False: the step changes only the receiver's answers and its clock. */
  register: Schema.optionalKey(Schema.Boolean.annotate({ message: "must be true or false" }))
})
export type ReceiverStep = typeof ReceiverStep.Type

export const EventStep = Schema.Struct({
  /** The name of a signed webhook that a receiver of the partner accepted. */
  event: Text,
  by: Schema.optionalKey(Text),
  /** The receiver that the event arrived at; default: any. */
  at: Schema.optionalKey(Text),
  client: Schema.optionalKey(Text),
  data: Schema.optionalKey(Expected),
  /** The exact number of events, each of which may have arrived more than once. Default: at least one. */
  times: Schema.optionalKey(Count),
  /** Number of arrivals with one id. */
  receipts: Schema.optionalKey(Expected),
  within: Schema.optionalKey(Duration),
  /** Variables by name: the path in the delivery, such as `data.noticeId`. */
  save: Schema.optionalKey(Schema.Record(Text, Text).annotate({ message: "must be a map of variables to paths" }))
})
export type EventStep = typeof EventStep.Type

export const TogetherStep = Schema.Struct({
  /** Steps of partner and operator that are sent at once. */
  together: Schema.Array(Schema.Unknown)
    .annotate({ message: "must be a list of steps" })
    .check(
      Schema.isMinLength(2, { message: "must have at least two steps" }),
      Schema.isMaxLength(50, { message: "must have at most 50 steps" })
    ),
  /** The expected answers, in any order. */
  answers: Schema.Array(AnswerForm).annotate({ message: "must be a list of expectations" })
})

/** Points of a request at which a service of the run's own can be killed (`serve --kill-at`). */
const killPoints = ["after-claim", "after-decide", "before-commit", "after-commit"] as const

export const KillStep = Schema.Struct({
  /** kill -9 of the run's own service, which is then restarted, or of its database, which the service restarts. */
  kill: Schema.Literals(["service", "database"]).annotate({ message: "must be service or database" }),
  /** For a service: the points at which it is killed in turn, each with the step of `during` at the same index in flight. */
  at: Schema.optionalKey(
    Schema.Array(Schema.Literals(killPoints).annotate({ message: `must be one of ${killPoints.join(", ")}` })).annotate(
      { message: "must be a list of points" }
    )
  ),
  /** For the points before-commit and after-commit: the client whose commits alone count. */
  client: Schema.optionalKey(Text),
  /** For a database: it is killed at each restart during this period. */
  for: Schema.optionalKey(Duration),
  during: Schema.optionalKey(
    Schema.Array(Schema.Unknown)
      .annotate({ message: "must be a list of steps" })
      .check(Schema.isMaxLength(50, { message: "must have at most 50 steps" }))
  )
})

/** Kinds of step by the key that names them. */
export const stepForms = {
  partner: PartnerStep,
  operator: OperatorStep,
  venue: VenueStep,
  clock: ClockStep,
  receiver: ReceiverStep,
  event: EventStep,
  together: TogetherStep,
  kill: KillStep
} as const
export type StepKind = keyof typeof stepForms

/** A parsed step with its line number. */
export type Step = { readonly line: number } & (
  | ({ readonly kind: "partner" } & PartnerStep)
  | ({ readonly kind: "operator" } & OperatorStep)
  | ({ readonly kind: "venue" } & VenueStep)
  | ({ readonly kind: "clock" } & ClockStep)
  | ({ readonly kind: "receiver" } & ReceiverStep)
  | ({ readonly kind: "event" } & EventStep)
  | {
      readonly kind: "together"
      readonly together: ReadonlyArray<SentStep>
      readonly answers: ReadonlyArray<AnswerForm>
    }
  | ({ readonly kind: "kill"; readonly during: ReadonlyArray<SentStep> } & Omit<typeof KillStep.Type, "during">)
)
export type KillStep = Extract<Step, { readonly kind: "kill" }>
/** A step that gets an answer. */
export type SentStep = Extract<Step, { readonly kind: "partner" | "operator" | "venue" }>

/** A requirement of a scenario on its service. */
export type Need = "webhooks" | "venue" | "clock" | "own"

export interface Scenario {
  readonly file: string
  readonly id: string
  readonly title: string
  readonly alone: boolean
  /** True: the scenario needs a service of the run's own. */
  readonly own: boolean
  readonly given: typeof Given.Type
  readonly steps: ReadonlyArray<Step>
  readonly needs: ReadonlyArray<Need>
}
