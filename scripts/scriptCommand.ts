/**
 * The command line of a script of package.json: --help prints its options, anything it does not know ends it with a
 * sentence and status 2, so that 1 stays for what the script finds.
 */
import { Command } from "commander"

export const scriptCommand = (name: string, description: string): Command =>
  new Command(`npm run ${name} --`)
    .description(description)
    .allowExcessArguments(false)
    .showHelpAfterError("(--help shows the options)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
