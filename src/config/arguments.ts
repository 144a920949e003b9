// What the command line may say: which command, and its options. All else is a setting of the environment.
import { nearestWord } from '../lib/nearest-word.ts'
import { describeSettings } from './config.ts'

/** The options of each command; the empty name is a start. */
const commands: Readonly<Record<string, readonly string[]>> = {
  '': [],
  doctor: ['--offline'],
  'reset-admin': [],
}

const prefix = 'SWITCHHOOK_'
// What a person has typed may be long, and may hold a secret behind the equals sign.
const maxNameChars = 64

/** A sentence with its cure for the first argument that means nothing; undefined where all do. */
export function argumentsFault(given: readonly string[]): string | undefined {
  const [first = ''] = given
  const isCommand = first !== '' && Object.hasOwn(commands, first)
  const options = commands[isCommand ? first : ''] ?? []
  const wrong = given.slice(isCommand ? 1 : 0).find((argument) => !options.includes(argument))
  if (wrong === undefined) return undefined
  const name = wrong.replace(/=.*$/s, '').slice(0, maxNameChars)
  if (first === 'doctor') return `The doctor knows no ${name}: it takes --offline, which asks no vendor.`
  return `Switchhook knows no argument ${name}: ${cureOf(name)}.`
}

function cureOf(name: string): string {
  const command = nearestWord(name, Object.keys(commands))
  if (command !== undefined) return `the nearest command is ${command}`
  const setting = settingNamed(name)
  return setting === undefined
    ? 'settings are variables of the environment, which docs/reference/settings.md lists'
    : `settings are variables of the environment, set ${setting}`
}

/** The one of that name, one that is near to it, or the first that ends so: `--port` is that of HTTP. */
function settingNamed(argument: string): string | undefined {
  const word = argument.replace(/^-+/, '').toUpperCase().replaceAll('-', '_').replace(prefix, '')
  if (!/^[A-Z]\w+$/.test(word)) return undefined
  const names = describeSettings()
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length))
  const found = nearestWord(word, names) ?? names.find((name) => name.endsWith(`_${word}`))
  return found === undefined ? undefined : `${prefix}${found}`
}
