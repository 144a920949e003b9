// Reads the arguments of an example, and says which one is wrong rather than where in Node it was found.
import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

/** Ends the process with the reason and the help where they make no sense. */
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

/** Throws where it is no port. `min` is 0 where any free port may be meant. */
export function portOf(text: string, name: string, min: 0 | 1 = 1): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < min || port > 65_535)
    throw new Error(`${name} must be a port from ${min} to 65535, and is "${text}".`)
  return port
}
