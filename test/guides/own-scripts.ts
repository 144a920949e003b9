// `npm run` in a guide: through npm the first time that a script is named, and as the command that package.json has for it
// after that. npm takes as much CPU as what it starts, and does the same for each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

const startedByNpm = new Set<string>()

/** Arguments are given behind `--`, or there are none: npm keeps others for itself, as is found when it is asked. */
const named = /npm run -s ([\w-]+)(?: --(?= )|(?=\s*(?:[|)&\n]|$)))/g

/** The text with every `npm run` in it as it runs outside of the clone. */
export function withOwnScripts(text: string): string {
  return text
    .replaceAll(named, (whole, name: string) => {
      const [, file, rest] = /^node (\S+\.ts)((?: [\w-]+)*)$/.exec(scripts[name] ?? '') ?? []
      if (file === undefined || !startedByNpm.has(name)) {
        startedByNpm.add(name)
        return whole
      }
      return `${process.execPath} ${join(root, file)}${rest}`
    })
    .replaceAll('npm run', () => `npm --prefix ${root} run`)
}
