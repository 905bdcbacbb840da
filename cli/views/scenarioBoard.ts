/**
 * The output of `sim run`. On a terminal, one line per scenario shows its step and time, refreshed by Ink; elsewhere, each
 * scenario gives one line when it ends.
 */
import { Box, render, Static, Text } from "ink"
import { createElement, type ReactElement } from "react"
import type { ScenarioResult, Watcher } from "../../simulator/scenarios/runner/runScenario.ts"
import type { Scenario } from "../../simulator/scenarios/runner/Scenario.ts"

type Board = Watcher & { readonly close: () => void }

/** A board of plain lines, in the order in which scenarios end. */
export const linesOf = (print: (text: string) => void): Board => ({
  began: () => undefined,
  at: () => undefined,
  ended: (_, result) => print(`${resultLines(result).join("\n")}\n`),
  close: () => undefined
})

/** The lines of a result, such as `passed  SC-CUS-01  A deposit that finance confirms  0.4 s`, with failures below. */
export const resultLines = (result: ScenarioResult): ReadonlyArray<string> => {
  const { ok, id, title, millis, failure, file } = result
  const head = `${ok ? "passed" : "FAILED"}  ${id}  ${title}  ${seconds(millis)}`
  if (failure === null) return [safe(head)]
  const place = failure.line === null || failure.line === 0 ? file : `${file}:${failure.line}`
  return [head, `        ${place}: ${failure.step}`, `        ${failure.sentence}`].map(safe)
}

/** Replaces control characters: in an answer they could control the terminal. */
const safe = (line: string): string => line.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")
const seconds = (millis: number): string => `${(millis / 1_000).toFixed(1)} s`
const redrawMillis = 100

interface Running {
  readonly scenario: Scenario
  readonly startedAt: number
  number: number
  step: string
}

/** The live board. Ended scenarios stay above, running ones are below them. */
export const scenarioBoard = (
  scenarios: ReadonlyArray<Scenario>,
  styled: boolean,
  stdout: NodeJS.WriteStream
): Board => {
  const running = new Map<Scenario, Running>()
  const ended: Array<ScenarioResult> = []
  const draw = () =>
    createElement(BoardView, { ended: [...ended], running: [...running.values()], total: scenarios.length, styled })
  // The caller has checked that there is a terminal.
  const screen = render(draw(), { stdout, interactive: true, exitOnCtrlC: false, patchConsole: false })
  const timer = setInterval(() => screen.rerender(draw()), redrawMillis)
  return {
    began: (scenario) => void running.set(scenario, { scenario, startedAt: Date.now(), number: 0, step: "given" }),
    at: (scenario, number, step) => {
      const row = running.get(scenario)
      if (row !== undefined) Object.assign(row, { number, step })
    },
    ended: (scenario, result) => {
      running.delete(scenario)
      ended.push(result)
    },
    close: () => {
      clearInterval(timer)
      screen.rerender(draw())
      screen.unmount()
    }
  }
}

interface BoardProps {
  readonly ended: ReadonlyArray<ScenarioResult>
  readonly running: ReadonlyArray<Running>
  readonly total: number
  readonly styled: boolean
}

const BoardView = ({ ended, running, total, styled }: BoardProps): ReactElement =>
  createElement(
    Box,
    { flexDirection: "column" },
    createElement(Static<ScenarioResult>, {
      items: [...ended],
      children: (result) =>
        createElement(
          Box,
          { key: result.file, flexDirection: "column" },
          ...resultLines(result).map((line, index) =>
            createElement(Text, { key: index, ...(styled ? { color: result.ok ? "green" : "red" } : {}) }, line)
          )
        )
    }),
    ...running.map(({ scenario, number, step, startedAt }) =>
      createElement(
        Text,
        { key: scenario.file, wrap: "truncate" },
        `${scenario.id}  ${number}/${scenario.steps.length}  ${seconds(Date.now() - startedAt)}  ${step}`
      )
    ),
    createElement(Text, { dimColor: styled }, `${ended.length} of ${total}`)
  )
