/**
 * The command line of a script of package.json: --help prints its options, and an unknown one ends it with a sentence and
 * status 2, so that status 1 stays for findings.
 */
import { Command } from "commander"

export const scriptCommand = (name: string, description: string): Command =>
  new Command(`npm run ${name} --`)
    .description(description)
    .allowExcessArguments(false)
    .showHelpAfterError("(--help shows the options)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
