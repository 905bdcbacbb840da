/**
 * The faults of a scenario that show before it plays: events that the service does not publish, variables that no earlier step
 * sets, commands that the command line does not have, and routes that the contract does not have. Pure.
 */
import { closest } from "../../../src/machines/shared/closest.ts"
import { eventNames } from "../../../src/http/api/webhookEvents.ts"
import { OperatorApi, operatorPrefix } from "../../../src/http/api/OperatorApi.ts"
import { PartnerApi, partnerPrefix } from "../../../src/http/api/PartnerApi.ts"
import { Matcher } from "./matching.ts"
import { splitLine } from "./performStep.ts"
import { type Complaint, shortened } from "./readScenario.ts"
import type { AnswerForm, Scenario, SentStep, Step } from "./Scenario.ts"
import { namesIn } from "./variables.ts"
import { parseLine } from "./vocabulary.ts"

/** The fault of a command's words as a sentence; null for a command that the command line can run. */
export type CheckCommand = (words: ReadonlyArray<string>) => string | null

/** The faults of the scenario, in order of lines, at most as many as `readScenario` reports. */
export const checkScenario = (scenario: Scenario, checkCommand: CheckCommand): ReadonlyArray<Complaint> => {
  const checker = new Checker(scenario, checkCommand)
  for (const step of scenario.steps) checker.step(step)
  return shortened(checker.complaints)
}

/** Members that a client's variable has; a saved value can have any. */
const clientMembers = ["clientUid", "partnerClientRef", "kycPackageId"]
type Holds = "client" | "text" | "saved"

class Checker {
  readonly complaints: Array<Complaint> = []
  /** The variables that earlier steps have set. */
  private readonly known = new Map<string, Holds>()
  private readonly checkCommand: CheckCommand

  constructor({ given }: Scenario, checkCommand: CheckCommand) {
    this.checkCommand = checkCommand
    for (const name of ["partner", ...Object.keys(given.partners ?? {})]) this.known.set(name, "text")
    for (const name of [...(given.clients ?? []), ...(given.traders ?? [])]) this.known.set(name, "client")
  }

  step(step: Step): void {
    switch (step.kind) {
      case "partner":
      case "operator":
      case "venue":
        this.request(step)
        this.uses(step.line, step.expect)
        return this.saves(step)
      case "event":
        this.event(step.line, step.event)
        this.uses(step.line, [step.data, step.client])
        return this.set(step.save)
      case "together":
        for (const each of step.together) this.request(each)
        this.uses(step.line, step.answers)
        for (const each of step.together) this.saves(each)
        return
      case "kill":
        this.uses(step.line, step.client)
        for (const each of step.during) {
          this.request(each)
          this.uses(each.line, each.expect)
          // A killed service answers nothing that could be saved.
          if (step.kill === "database") this.saves(each)
        }
        return
      case "clock":
      case "receiver":
        return
    }
  }

  private request(step: SentStep): void {
    if (step.kind === "venue") return this.command(step.line, ["sim", "venue"], step.venue, step.expect)
    if (step.kind === "partner") {
      const { body, with: members, idempotencyKey, key } = step
      this.uses(step.line, [step.partner, body, members, idempotencyKey, key])
      const line = parseLine(step.partner)
      if (line.type === "route") this.route(step.line, partnerRoutes(), line.method, line.path, step.expect)
      return
    }
    const [method = "", path = ""] = step.operator.split(" ")
    if (!/^(GET|POST|PUT|DELETE)$/.test(method)) return this.command(step.line, [], step.operator, step.expect)
    this.uses(step.line, [path, step.body])
    this.route(step.line, operatorRoutes(), method, path, step.expect)
  }

  private command(line: number, before: ReadonlyArray<string>, text: string, expect: AnswerForm | undefined): void {
    this.uses(line, text)
    const words = splitLine(text)
    if (words === null) return this.complain(line, "a quotation mark is not closed")
    // A scenario may prove that a command refuses wrong usage.
    if (expect?.status === wrongUsage) return
    const fault = this.checkCommand([...before, ...words])
    if (fault !== null) this.complain(line, fault)
  }

  private route(
    line: number,
    routes: ReadonlyArray<Route>,
    method: string,
    path: string,
    expect: AnswerForm | undefined
  ): void {
    // A scenario may prove that the service refuses an absent route.
    if (method === "OPTIONS" || (expect?.status ?? 0) >= 400) return
    const parts = partsOf(path)
    const same = routes.filter((route) => fits(route.parts, parts))
    const verb = method === "HEAD" ? "GET" : method
    if (same.some((route) => route.method === verb)) return
    if (same.length > 0) {
      const methods = same.map((route) => route.method).join(", ")
      return this.complain(line, `${path} has no ${method}: it has ${methods}`)
    }
    const near = routes.filter((route) => route.parts.length === parts.length)
    const nearest = near.map((route) => route.parts.map((part, at) => (isOpen(part) ? (parts[at] ?? part) : part)))
    const meant = closest(
      `/${parts.join("/")}`,
      nearest.map((each) => `/${each.join("/")}`)
    )
    this.complain(line, `there is no route ${method} ${path}${meant}`)
  }

  private event(line: number, name: string): void {
    if (!eventNames.includes(name)) {
      this.complain(line, `the service publishes no event "${name}"${nearEvent(name)}`)
    }
  }

  /** Reports the variables of the value that no earlier step has set. */
  private uses(line: number, value: unknown): void {
    for (const name of variablesIn(value)) {
      const parts = name.split(".")
      const heads = parts.map((_, at) => parts.slice(0, at + 1).join("."))
      const head = heads.findLast((each) => this.known.has(each))
      if (head === undefined) {
        this.complain(line, `no earlier step sets $${name}${closest(parts[0] ?? "", [...this.known.keys()])}`)
        continue
      }
      const member = name.slice(head.length + 1)
      const holds = this.known.get(head)
      if (member === "" || holds === "saved" || (holds === "client" && clientMembers.includes(member))) continue
      const members = holds === "client" ? clientMembers : []
      this.complain(line, `$${head} has no member ${member}${closest(member, members)}`)
    }
  }

  /** Sets the variables of a step that is answered. */
  private saves(step: SentStep): void {
    const [short, name] = step.kind === "partner" ? step.partner.trim().split(/\s+/) : []
    if (short === "onboard" && name !== undefined) this.known.set(name, "client")
    this.set(step.save)
  }

  private set(save: Readonly<Record<string, string>> | undefined): void {
    for (const name of Object.keys(save ?? {})) this.known.set(name, "saved")
  }

  private complain(line: number, sentence: string): void {
    this.complaints.push({ line, sentence })
  }
}

/** The exit status of a command line that is refused before it runs. */
const wrongUsage = 2

const variablesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return namesIn(value)
  if (value instanceof Matcher) return variablesIn(value.value)
  if (Array.isArray(value)) return value.flatMap(variablesIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => [...namesIn(name), ...variablesIn(item)])
}

/** The nearest event: a misspelt one, or else those of the same object. */
const nearEvent = (name: string): string => {
  const meant = closest(name, eventNames)
  if (meant !== "") return meant
  const [object = ""] = name.split(".")
  const ofObject = eventNames.filter((each) => each.startsWith(`${object}.`))
  return `; it publishes ${(ofObject.length > 0 ? ofObject : eventNames).join(", ")}`
}

interface Route {
  readonly method: string
  readonly parts: ReadonlyArray<string>
}

const partsOf = (path: string): ReadonlyArray<string> => (path.split("?", 1)[0] ?? "").split("/").slice(1)
const isOpen = (part: string): boolean => part.startsWith(":")

/** Whether a path belongs to a route. A variable stands for a parameter of the route only. */
const fits = (route: ReadonlyArray<string>, parts: ReadonlyArray<string>): boolean =>
  route.length === parts.length && route.every((part, at) => isOpen(part) || part === parts[at])

interface Api {
  readonly groups: Readonly<
    Record<string, { readonly endpoints: Readonly<Record<string, { readonly method: string; readonly path: string }>> }>
  >
}

const routesOf = (api: Api, prefix: string): ReadonlyArray<Route> =>
  Object.values(api.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints)
      .filter(({ path }) => path.startsWith(prefix))
      .map(({ method, path }) => ({ method, parts: partsOf(path.slice(prefix.length)) }))
  )

/** Cached, because the contracts come with the program. */
let ofPartners: ReadonlyArray<Route> | null = null
let ofOperators: ReadonlyArray<Route> | null = null
const partnerRoutes = (): ReadonlyArray<Route> => (ofPartners ??= routesOf(PartnerApi, partnerPrefix))
const operatorRoutes = (): ReadonlyArray<Route> => (ofOperators ??= routesOf(OperatorApi, operatorPrefix))
