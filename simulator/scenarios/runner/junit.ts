/** The results of a run as JUnit XML, one test case a scenario. */
import type { ScenarioResult } from "./runScenario.ts"

export const junitOf = (results: ReadonlyArray<ScenarioResult>, seed: number): string => {
  const failures = results.filter(({ ok }) => !ok).length
  const counts = `tests="${results.length}" failures="${failures}" errors="0" time="${seconds(sum(results))}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="scenarios" ${counts}>`,
    `    <properties><property name="seed" value="${seed}"/></properties>`,
    ...results.map(caseOf),
    "  </testsuite>",
    "</testsuites>",
    ""
  ].join("\n")
}

const caseOf = ({ id, title, file, millis, failure }: ScenarioResult): string => {
  const head = `    <testcase classname="${escaped(id)}" name="${escaped(title)}" file="${escaped(file)}" time="${seconds(millis)}"`
  if (failure === null) return `${head}/>`
  const place = failure.line === null ? failure.step : `line ${failure.line}, ${failure.step}`
  return [
    `${head}>`,
    `      <failure message="${escaped(failure.sentence)}">${escaped(place)}</failure>`,
    "    </testcase>"
  ].join("\n")
}

const sum = (results: ReadonlyArray<ScenarioResult>): number => results.reduce((total, { millis }) => total + millis, 0)
const seconds = (millis: number): string => (millis / 1_000).toFixed(3)

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;"
}

/** XML 1.0 excludes control characters, even escaped ones. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "?")
    .replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? letter)
    .replaceAll("\n", "&#10;")
