// The command line: the commands and their options. Everything else is a setting of the environment.
import { nearestWord } from '../lib/nearest-word.ts'
import { describeSettings } from './config.ts'

/** The options of each command; the empty name starts the platform. */
const commands: Readonly<Record<string, readonly string[]>> = {
  '': [],
  doctor: ['--offline'],
  'reset-admin': [],
}

const prefix = 'SWITCHHOOK_'
// An argument may be long, and may hold a secret behind the equals sign.
const maxNameChars = 64

/** Returns a sentence, with its cure, for the first unknown argument; undefined if all are known. */
export function argumentsFault(given: readonly string[]): string | undefined {
  const [first = ''] = given
  const isCommand = first !== '' && Object.hasOwn(commands, first)
  const options = commands[isCommand ? first : ''] ?? []
  const wrong = given.slice(isCommand ? 1 : 0).find((argument) => !options.includes(argument))
  if (wrong === undefined) return undefined
  const name = wrong.replace(/=.*$/s, '').slice(0, maxNameChars)
  if (first === 'doctor')
    return `The doctor has no option ${name}: it takes --offline, which contacts no vendor.`
  return `Switchhook has no argument ${name}: ${cureOf(name)}.`
}

function cureOf(name: string): string {
  const command = nearestWord(name, Object.keys(commands))
  if (command !== undefined) return `the nearest command is ${command}`
  const setting = settingNamed(name)
  return setting === undefined
    ? 'settings are variables of the environment, which docs/reference/settings.md lists'
    : `settings are variables of the environment, set ${setting}`
}

/** Returns the setting of that name, one spelt like it, or the first that ends so: `--port` gives that of HTTP. */
function settingNamed(argument: string): string | undefined {
  const word = argument.replace(/^-+/, '').toUpperCase().replaceAll('-', '_').replace(prefix, '')
  if (!/^[A-Z]\w+$/.test(word)) return undefined
  const names = describeSettings()
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length))
  const found = nearestWord(word, names) ?? names.find((name) => name.endsWith(`_${word}`))
  return found === undefined ? undefined : `${prefix}${found}`
}
