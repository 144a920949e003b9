// `npm run` in a guide: the first use of a script goes through npm, later ones run the command that package.json has
// for it. npm takes as much CPU as the command itself, and does the same for each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

const startedByNpm = new Set<string>()

/** Arguments follow `--`, or there are none: npm consumes other ones itself, which the first run through npm shows. */
const named = /npm run -s ([\w-]+)(?: --(?= )|(?=\s*(?:[|)&\n]|$)))/g

/** Returns the text with every `npm run` replaced by a command that runs outside of the clone. */
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
