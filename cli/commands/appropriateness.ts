/** `brokerage appropriateness …` and `sim answers`: the questionnaire of the appropriateness test (operator surface; F24). */
import { Argument, type Command, InvalidArgumentError } from "commander"
import { assessmentOutcomes } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { tokenArgument } from "../options.ts"
import { readText } from "../textFile.ts"
import { fields, stack, text } from "../views/View.ts"

type Outcome = (typeof assessmentOutcomes)[number]
type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** The JSON document of a file; an unreadable or unparsable file is wrong usage. */
const jsonFile = (path: string): Json => {
  let content: string
  try {
    content = readText(path)
  } catch (error) {
    if (error instanceof TypeError) throw new InvalidArgumentError("The file is not UTF-8 or UTF-16 text.")
    throw new InvalidArgumentError("The file can't be read.")
  }
  try {
    return JSON.parse(content) as Json
  } catch {
    throw new InvalidArgumentError("The file is not JSON.")
  }
}

export const addAppropriatenessCommands = (program: Command, cli: Cli): void => {
  const appropriateness = program.command("appropriateness").description("the appropriateness questionnaire")
  appropriateness
    .command("publish")
    .description("make a file the next version; answers to earlier versions are refused from then on")
    .addArgument(new Argument("<FILE>", "questionnaire with points, JSON").argParser(jsonFile))
    .action((questionnaire: Json, _: object, command: Command) =>
      cli.call(command, (api) => api.appropriateness.publish({ payload: { questionnaire } }), fields, {
        confirm: "Publish this questionnaire? A published version is never changed."
      })
    )
}

/** Adds `sim answers` beside the other sandbox commands. */
export const addSimAnswersCommand = (sim: Command, cli: Cli): void => {
  sim
    .command("answers")
    .description("a submission for the questionnaire in force that gives the outcome")
    .addArgument(tokenArgument("<OUTCOME>", "the outcome", assessmentOutcomes))
    .action((outcome: Outcome, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.appropriateness.answers({ params: { outcome } }),
        ({ version, answers }) => stack(fields({ version }), text(""), fields(answers))
      )
    )
}
