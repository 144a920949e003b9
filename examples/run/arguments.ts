// The arguments of an example: an error names the wrong argument rather than a place in Node.
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Parses the arguments. Ends the process with the reason and the help if they are invalid. */
export function readArguments<const T extends ParseArgsConfig>(
  config: T,
  help: string,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    process.exit(1)
  }
}

/** Throws unless the text is a port. `min` is 0 if the argument may stand for any free port. */
export function portOf(text: string, name: string, min: 0 | 1 = 1): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < min || port > 65_535)
    throw new Error(`${name} must be a port from ${min} to 65535, and is "${text}".`)
  return port
}
