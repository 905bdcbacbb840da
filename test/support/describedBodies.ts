/**
 * Compares the requests and answers of tests on the real service with the published description. Every answer is
 * described under its status and fits. An accepted body fits too, and a refusal gives its reason. A body that fits and
 * is refused breaks a rule that JSON Schema cannot express; those rules are listed here (doc 1, What the service does;
 * A1-01, A1-27).
 */
import Ajv2020 from "ajv/dist/2020.js"
import { openApiDocument } from "../../src/http/openApiDocument.ts"
import { partnerRoutes } from "../../src/http/features.ts"

/**
 * The sentences of rules that JSON Schema cannot express: they join fields, need a stored fact, or check the content of
 * a text.
 */
const beyondSchemas: ReadonlyArray<readonly [rule: string, sentence: RegExp]> = [
  ["texts are judged trimmed", /must not contain control characters or line breaks\.$/],
  ["e-mail addresses", /^The e-mail address must be /],
  ["numbers of tax offices", /^The (US )?tax number must be /],
  ["one field asks for another", / is required (when|for|to) /],
  [
    "a re-onboarding brings every section",
    /^The (personal information|identification|tax residency|FATCA|PEP|declarations) section is required\.$/
  ],
  ["identity providers are the operator's", /^The identity provider must be one of: /],
  ["today", /must not be (in the future|older than )|must be (in the future|after )|^The client must be at least 18/],
  [
    "countries",
    /^Clients resident in this country can not|^Clients resident in this country cannot|officially assigned|must not be named twice\.$/
  ],
  ["documents on file", /^The document reference |must be omitted|must not be sent/],
  ["amounts", /^The amount (must be (a plain decimal|greater than zero)|is too large|has )/],
  ["a document's bytes", /^The content /],
  ["addresses of receivers", /^The url/],
  ["the client's books", /^The client (has insufficient free balance|is short of margin)/],
  [
    "a test's answers and state",
    /^There is no warning to acknowledge\.$|^The (question|answer|option)|must be answered/
  ],
  ["numbers that JSON readers change", /^The destination has a number /],
  ["bulk reports by their size", /^The items must be a list /],
  [
    "a market's grids and limits",
    /^The (quantity|barrier level|take profit) must be (a multiple of|at (most|least)) |^The expiry must be at most|^The market (does not offer|has no (live price|mark))/
  ],
  [
    "the price of the moment",
    /^The (barrier|take profit) |^The quantity is worth less|^Trading in this market is halted/
  ],
  ["a choice of leverage", /^The leverage must be at most \d+ in this market\.$|^The margin at another leverage /],
  [
    "what stands against new risk",
    /^(The account is being closed out, |The premium and the commission exceed|New positions may not|The partner is |The client has \d+ open )/
  ],
  [
    "an order's fields by its type and its market",
    /^(A MARKET order takes|A conditional order takes|POST_ONLY is taken|A trigger is taken|Attached levels|The attached levels|A reduce-only order is|An OCO group is|A leverage is)|^The trigger direction of |^The (price|trigger price|limit price|stop loss price|take profit price) must be a multiple of/
  ],
  [
    "an order on its account and at the price of the moment",
    /^(The order('s margin| is worth| is too large| would )|The market has no price|A market that the account|There is no position|A reduce-only order may|The limit of |The (limit|worst) price (of |must lie )|A member of the OCO group|The (OCO group|client) has \d+ |The venue has refused the order|The price )/
  ],
  ["what is free for a take", /^The free [A-Z0-9]+ of |^The reward would take the balance /],
  [
    "what of an offer is left, and its market's grid",
    /^Only [0-9.]+ of the offer is left\.$|^The quantity must be (a multiple of|at least|at most) |^The market is (delisted|disabled): nothing can be taken /
  ],
  [
    "a statement's period by its kind and the time",
    /^The (start of the period|end of the period|tax year|quarter) does not belong to a statement of kind |^The period must (end after it begins|begin in the past|have at most 366 days)\.$|^The (tax year|quarter) (has not ended yet|must be of a year from )/
  ],
  [
    "what became of a request, a quote or a contract",
    /^(The (request|contract|quote|dealer) |An accept of|A (cancel|request|later quote) |The (premium at this quote|venue has) )/
  ]
]

const ajv = new Ajv2020.default({ strict: false, allErrors: true })
const document = openApiDocument()
ajv.addSchema(document, "api")

const pointer = (...parts: ReadonlyArray<string>): string =>
  `#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`

/** True if the description gives a status of a route an answer that is not JSON: a file, or no body. */
const isNoJson = (method: string, path: string, status: number): boolean => {
  const route = partnerRoutes.match(method, path.split("?", 1)[0] ?? "")?.route
  const item = document.paths[route?.path.replace(/:(\w+)/g, "{$1}") ?? ""]
  const operation = item?.[method.toLowerCase() as "get"]
  const answer = operation?.responses[status] as { readonly content?: Readonly<Record<string, unknown>> } | undefined
  return answer !== undefined && answer.content?.["application/json"] === undefined
}

/** The check of a JSON part of a route; null if the path has no route, undefined if the route has no such part. */
const checkOf = (method: string, path: string, ...part: ReadonlyArray<string>) => {
  const route = partnerRoutes.match(method, path.split("?", 1)[0] ?? "")?.route
  if (route === undefined) return null
  const operation = ["paths", route.path.replace(/:(\w+)/g, "{$1}"), method.toLowerCase()]
  return ajv.getSchema(`api${pointer(...operation, ...part, "content", "application/json", "schema")}`)
}

interface Answered {
  readonly status: number
  readonly json: unknown
}

/** Throws if an answer does not fit the description of its status. */
export const holdAnswer = (method: string, path: string, { status, json }: Answered): void => {
  const check = checkOf(method, path, "responses", String(status))
  if (check === null || isNoJson(method, path, status)) return
  if (check === undefined) throw new Error(`${method} ${path} answers ${status}, which is not described`)
  if (check(json) !== true) throw new Error(`${method} ${path} answers otherwise: ${ajv.errorsText(check.errors)}`)
}

interface Refused {
  readonly msg: string
  readonly data?: { readonly errors?: Readonly<Record<string, string>> }
}

/** The value at a dotted path of a body. */
const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], body)

/** True if no schema could express the sentence. `value`: the value that the sentence refers to. */
const isBeyond = (sentence: string, value: unknown): boolean =>
  (typeof value === "string" && value.trim() === "" && sentence.endsWith(" is required.")) ||
  beyondSchemas.some(([, broken]) => broken.test(sentence))

/**
 * The body without the PEP details that `is_pep: false` makes irrelevant: the service drops them unread, as the field's
 * description states (A1-28).
 */
const read = (body: unknown): unknown => {
  const copy = structuredClone(body) as { kyc?: { pep?: Record<string, unknown> } } | null
  const pep = copy?.kyc?.pep
  if (pep?.["is_pep"] === false) delete pep["details"]
  if (pep?.["has_associations"] === false) delete pep["associations"]
  return copy
}

/** Throws if a JSON body and its answer contradict the description. */
export const holdBody = (method: string, path: string, body: unknown, answer: Answered): void => {
  const validate = method === "GET" ? undefined : checkOf(method, path, "requestBody")
  if (validate === undefined || validate === null || (answer.status >= 300 && answer.status !== 400)) return
  const fits = validate(read(body)) === true
  if (answer.status < 300) {
    if (!fits) throw new Error(`${method} ${path} accepts what is not described: ${ajv.errorsText(validate.errors)}`)
    return
  }
  const { msg, data } = answer.json as Refused
  const reasons = Object.entries(data?.errors ?? { "": msg })
  if (reasons.some(([, sentence]) => !/^[A-Z].*\.$/s.test(sentence))) throw new Error(`no reason given: ${msg}`)
  if (fits && !reasons.some(([at, sentence]) => isBeyond(sentence, valueAt(body, at)))) {
    throw new Error(`${method} ${path} refuses what is described, and by no listed rule: ${JSON.stringify(reasons)}`)
  }
}
