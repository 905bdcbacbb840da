/**
 * Plays steps of the tour: prints each request, the shortened answer and the webhooks that came, and waits for Enter on a
 * terminal. With --json it prints one document.
 */
import { createInterface, type Interface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import type { Cli } from "../Cli.ts"
import { CliFailure, exitStatus, type Globals } from "../CliIo.ts"
import type { TourStepName } from "./stepNames.ts"
import { wrapText } from "../views/wrapWords.ts"
import { type Perform, prepareAccount } from "./prepareAccount.ts"
import { type TourAnswer, type TourDelivery, TourDemo } from "./TourDemo.ts"
import { type TourAction, tourSteps } from "./tourSteps.ts"
import { answerLines, fill, filledAction, memberOf, requestLines } from "./tourText.ts"

/** Time that a read gets to show the expected members, and that webhooks get to arrive, ms. */
const waitMillis = 10_000
const pollMillis = 100
const dayMillis = 86_400_000
/** Days that the statement of the tour covers. */
const statedDays = 30

/** An action as `--json` reports it. */
interface Played {
  readonly purpose: string
  /** The line that a user would type; over several rows it is joined. */
  readonly request: string
  readonly status: number
  readonly answer: unknown
  readonly webhooks: ReadonlyArray<TourDelivery>
  readonly file?: string
}

interface PlayedStep {
  readonly step: TourStepName
  readonly sentence: string
  /** The actions that brought about the state in which the step begins. */
  readonly prepared: ReadonlyArray<Played>
  readonly actions: ReadonlyArray<Played>
}

/** Plays the steps in order. Rejects with a CliFailure that names request and answer when a step fails. */
export const playTour = async (cli: Cli, globals: Globals, names: ReadonlyArray<TourStepName>): Promise<void> => {
  const demo = await TourDemo.open(cli, globals)
  const reader =
    cli.io.terminal && process.stdin.isTTY && globals.json !== true
      ? createInterface({ input: process.stdin, terminal: false })
      : null
  try {
    const player = new TourPlayer(cli, demo, globals, reader)
    const steps = await player.play(names)
    if (globals.json === true) cli.io.stdout(`${JSON.stringify({ folder: demo.place.folder, steps })}\n`)
  } finally {
    reader?.close()
    await demo.close()
  }
}

class TourPlayer {
  private readonly cli: Cli
  private readonly demo: TourDemo
  private readonly globals: Globals
  private readonly reader: Interface | null
  private lastDelivery = 0
  private hasEndpoint = false
  /** The end of input, such as Ctrl-D: the tour then stops at its next question. */
  private isInputOver = false
  /** The step that plays; failures name it. */
  private step: TourStepName = "money"

  constructor(cli: Cli, demo: TourDemo, globals: Globals, reader: Interface | null) {
    this.cli = cli
    this.demo = demo
    this.globals = globals
    this.reader = reader
    reader?.once("close", () => (this.isInputOver = true))
  }

  async play(names: ReadonlyArray<TourStepName>): Promise<ReadonlyArray<PlayedStep>> {
    const played: Array<PlayedStep> = []
    this.hasEndpoint = await this.demo.hasEndpoint()
    if (!this.hasEndpoint)
      this.print(
        "No webhook endpoint is registered: run npm start (serve --sandbox --demo) on a terminal to receive webhooks."
      )
    for (const [at, name] of names.entries()) {
      const step = await this.playStep(name, at === names.length - 1)
      if (step === null) break
      played.push(step)
    }
    return played
  }

  /** Plays one step; null when the user stops it. */
  private async playStep(name: TourStepName, isLast: boolean): Promise<PlayedStep | null> {
    const { sentence, needs = {}, actions } = tourSteps[name]
    this.step = name
    this.lastDelivery = (await this.demo.deliveriesAfter(0)).at(-1)?.deliveryId ?? 0
    this.print(`\n${name}: ${sentence}`)
    const values = await this.valuesOf(name)
    const prepared: Array<Played> = []
    const perform: Perform = async (action, method) => {
      const [step, answer] = await this.act(action, values, method)
      prepared.push(step)
      return answer.json
    }
    await prepareAccount(this.demo, needs, perform)
    // Webhooks of the preparation don't belong to the step.
    this.lastDelivery = (await this.demo.deliveriesAfter(0)).at(-1)?.deliveryId ?? 0
    const played: Array<Played> = []
    for (const [at, action] of actions.entries()) {
      const [step] = await this.act(action, values)
      played.push(step)
      if (!(isLast && at === actions.length - 1) && !(await this.wantsNext())) return null
    }
    return { step: name, sentence, prepared, actions: played }
  }

  /** The placeholders of a step. The step money gets a file of a new client in the tour's folder. */
  private async valuesOf(name: TourStepName): Promise<Map<string, string>> {
    const { json } = await this.demo.command(["sim", "clock", "show"])
    const now = Number(memberOf(json, "now")[0] ?? Date.now())
    const reference = this.demo.newReference()
    if (name === "money") {
      const body = JSON.stringify(sampleOnboarding(2, reference.replaceAll("-", ""), now), null, 2)
      this.demo.save("client.json", `${body}\n`)
    }
    return new Map([
      ["client", String(this.demo.clientId)],
      ["ref", reference],
      ["from", String(now - statedDays * dayMillis)],
      ["to", String(now + dayMillis)]
    ])
  }

  /** Performs one action, prints it, and keeps the values that later actions need. */
  private async act(
    template: TourAction,
    values: Map<string, string>,
    method?: "DELETE"
  ): Promise<readonly [Played, TourAnswer]> {
    const action = filledAction(template, values)
    const lines = requestLines(action, this.demo.place, method)
    this.print(`\n${action.purpose}`)
    // A line that is wrapped could not be pasted.
    if (this.globals.json !== true) this.cli.io.stdout(`${lines.map((line) => `  ${line}`).join("\n")}\n`)
    const answer = await this.answerOf(action, values, method)
    const request = lines.map((line) => line.replace(/ \\$/, "").trim()).join(" ")
    if (!answer.ok || !matches(action, answer.json, values)) throw this.failure(request, answer)
    for (const [name, path] of Object.entries(action.keeps ?? {}))
      values.set(name, memberOf(answer.json, path)[0] ?? "")
    const file = "saves" in action && action.saves !== undefined ? this.demo.save(action.saves, answer.bytes) : null
    const status = "command" in action ? "done" : String(answer.status)
    const shown = file === null ? answerLines(action, answer.json) : [`saved ${file}, ${answer.bytes.length} bytes`]
    this.print(
      (shown.length === 0 ? [""] : shown)
        .map((line, i) => `  ${(i === 0 ? status : "").padEnd(5)} ${line}`.trimEnd())
        .join("\n")
    )
    const webhooks = await this.webhooks(action.events ?? [])
    return [
      {
        purpose: action.purpose,
        request,
        status: answer.status,
        answer: answer.json,
        webhooks,
        ...(file === null ? {} : { file })
      },
      answer
    ]
  }

  private async answerOf(
    action: TourAction,
    values: ReadonlyMap<string, string>,
    method?: "DELETE"
  ): Promise<TourAnswer> {
    const isRead =
      method === undefined && ("command" in action ? / list /.test(action.command) : action.body === undefined)
    const until = Date.now() + waitMillis
    for (;;) {
      const answer = await this.send(action, method)
      if (!isRead || !answer.ok || matches(action, answer.json, values) || Date.now() > until) return answer
      await pause(pollMillis)
    }
  }

  private send(action: TourAction, method?: "DELETE"): Promise<TourAnswer> {
    return this.cli.whileWaiting(this.globals, this.answerFrom(action, method))
  }

  private answerFrom(action: TourAction, method?: "DELETE"): Promise<TourAnswer> {
    if ("command" in action) return this.demo.command(action.command.split(" "))
    const { body, path } = action
    if (body === undefined) return this.demo.request(method ?? "GET", path)
    return this.demo.request("POST", path, typeof body === "string" ? body : this.demo.fileText(body.file))
  }

  /** Waits until the events are in the log of webhooks, and prints all new ones of it. */
  private async webhooks(events: ReadonlyArray<string>): Promise<ReadonlyArray<TourDelivery>> {
    if (events.length === 0 || !this.hasEndpoint) return []
    const until = Date.now() + waitMillis
    for (;;) {
      const found = await this.demo.deliveriesAfter(this.lastDelivery)
      const missing = events.filter((event) => !found.some((each) => each.event === event))
      const isComplete = missing.length === 0 && found.every(({ status }) => status !== "PENDING")
      if (isComplete || Date.now() > until) {
        this.lastDelivery = found.at(-1)?.deliveryId ?? this.lastDelivery
        this.print(
          [
            ...found.map(
              ({ deliveryId, event, clientId, status }) =>
                `  webhook  ${event}  #${deliveryId}${clientId === null ? "" : `  client ${clientId}`}  ${status}`
            ),
            ...missing.map((event) => `  webhook  ${event}: none came within ${waitMillis / 1_000} s`)
          ].join("\n")
        )
        return found
      }
      await pause(pollMillis)
    }
  }

  /** Waits for Enter on a terminal; false when the user ends the tour. */
  private async wantsNext(): Promise<boolean> {
    const { reader } = this
    if (reader === null) return true
    if (this.isInputOver) return false
    this.cli.io.stdout("\nEnter: next, q: stop ")
    const line = await new Promise<string>((resolve) => {
      const ended = () => resolve("q")
      reader.once("close", ended)
      reader.once("line", (text) => {
        reader.off("close", ended)
        resolve(text)
      })
    })
    return !/^q/i.test(line.trim())
  }

  private failure(request: string, { status, json, bytes }: TourAnswer): CliFailure {
    const answer = json === null ? bytes.toString("utf8") : JSON.stringify(json)
    const sentence = `The step ${this.step} failed: ${request} was answered ${status} ${answer.slice(0, shownAnswer)}`
    return new CliFailure(exitStatus.refused, {
      code: 4092,
      msg: sentence,
      error: sentence,
      data: { step: this.step, request, status, answer: json }
    })
  }

  private print(text: string): void {
    if (this.globals.json !== true) this.cli.io.stdout(`${wrapText(text, this.cli.io.size()?.columns ?? null)}\n`)
  }
}

/** Characters of a failed answer that the sentence of the failure repeats. */
const shownAnswer = 2_000

const matches = ({ expects = {} }: TourAction, answer: unknown, values: ReadonlyMap<string, string>): boolean =>
  Object.entries(expects).every(([path, value]) => memberOf(answer, path).includes(fill(value, values)))
