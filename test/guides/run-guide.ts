// Runs a guide from its first command to its last against a real platform, and reports where its answers are wrong.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  accountApiKey,
  adminApiKey,
  codeCache,
  startPlatform,
  type Platform,
  type PlatformOptions,
} from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import { differenceOf } from './compare.ts'
import { parseGuide, type Step } from './guide.ts'
import { withOwnScripts } from './own-scripts.ts'
import { Shell, type Printed } from './shell.ts'

const root = join(import.meta.dirname, '../..')

export interface Context {
  readonly platform: Platform
  readonly folder: string
  readonly shell: Shell
  /** The functions to run when the guide has ended, the last one first. */
  readonly cleanUp: (() => Promise<unknown>)[]
  /** Replaces the guide's values by those of this run. */
  readonly toRun: (text: string) => string
}

export interface GuideOptions {
  /** The actions of a person, by the name in `<!-- test: name -->`. */
  readonly actions?: Readonly<Record<string, (context: Context) => Promise<void>>>
  readonly platform?: PlatformOptions
  /** Further literal values of the guide that differ in this run. */
  readonly words?: (place: Pick<Context, 'platform' | 'folder'>) => Promise<Readonly<Record<string, string>>>
  readonly env?: Readonly<Record<string, string>>
}

export interface GuideRun extends Context {
  /** Runs commands with `<sid>` as the last printed id; the output has the guide's values. */
  execute(script: string): Promise<Printed>
  close(): Promise<void>
}

/** Opens a platform, a folder and a shell for one guide. */
export async function openGuideRun(name: string, options: GuideOptions = {}): Promise<GuideRun> {
  const folder = await mkdtemp(join(tmpdir(), `guide-${name}-`))
  const platform = await startPlatform(options.platform)
  const words = await wordsOf(platform, await options.words?.({ platform, folder }))
  const toRun = (text: string): string => replaced(text, words)
  const shell = new Shell(folder, {
    SWITCHHOOK_HTTP_PORT: String(platform.httpPort),
    SWITCHHOOK_SIP_PORT: String(platform.sip.port),
    ...codeCache(),
    ...options.env,
  })
  const cleanUp: Context['cleanUp'] = []
  let sid = ''
  return {
    platform,
    folder,
    shell,
    toRun,
    cleanUp,
    async execute(script) {
      const { output, status } = await shell.run(withOwnScripts(toRun(script)).replaceAll('<sid>', sid))
      sid = /"sid": ?"([^"]+)"/.exec(output)?.[1] ?? sid
      return { output: toGuide(output, words), status }
    },
    async close() {
      await shell.close()
      for (const end of cleanUp.reverse()) await end()
      await platform.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Rejects at the first command that fails, and at the first answer that is not as shown. */
export function runGuide(name: string, options: GuideOptions = {}): Promise<void> {
  return runGuides([name], options)
}

/** Runs several guides in one terminal, as one reader goes through them. */
export async function runGuides(names: readonly string[], options: GuideOptions = {}): Promise<void> {
  const run = await openGuideRun(names.join('-'), options)
  try {
    for (const name of names)
      for (const step of parseGuide(await readFile(join(root, 'docs/guides', `${name}.md`), 'utf8')))
        await take(step, run, options, `docs/guides/${name}.md:${step.line}`)
  } finally {
    await run.close()
  }
}

async function take(step: Step, run: GuideRun, { actions = {} }: GuideOptions, place: string): Promise<void> {
  if (step.kind === 'action') {
    const act = actions[step.name]
    if (act === undefined) throw new Error(`${place}: the test knows no "${step.name}"`)
    return act(run)
  }
  if (step.kind === 'file') {
    const path = join(run.folder, step.name)
    await mkdir(dirname(path), { recursive: true })
    return writeFile(path, run.toRun(step.content))
  }
  const { output, status } = await run.execute(step.script)
  if (status !== 0) throw new Error(`${place}: the command failed (${status})\n${output}`)
  const { answer } = step
  if (answer === undefined && output.trim() !== '') throw new Error(`${place}: it prints\n${output}`)
  const difference = answer && differenceOf(answer.language, answer.text, output)
  if (difference !== undefined) throw new Error(`${place}: ${difference}`)
}

type Words = readonly (readonly [string, string])[]

async function wordsOf(platform: Platform, more: Readonly<Record<string, string>> = {}): Promise<Words> {
  const accounts = await platform.api.must<{ account_sid: string; name: string }[]>('GET', '/Accounts')
  const account = accounts.find(({ name }) => name === 'default account')
  const own = await freePorts(13)
  return Object.entries({
    '<the admin API key>': adminApiKey,
    '<the account API key>': accountApiKey,
    '<the account>': account?.account_sid ?? '',
    '3000': String(platform.httpPort),
    '5060': String(platform.sip.port),
    '4000': String(own),
    '4001': String(own + 1),
    '4002': String(own + 2),
    '4003': String(own + 3),
    '4004': String(own + 4),
    '4005': String(own + 5),
    '4006': String(own + 6),
    '4007': String(own + 7),
    '4008': String(own + 8),
    '4009': String(own + 9),
    '4010': String(own + 10),
    '4011': String(own + 11),
    '4012': String(own + 12),
    ...more,
  })
}

const isNumber = (word: string): boolean => /^\d+$/.test(word)

function pattern(word: string): RegExp {
  const plain = word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(isNumber(word) ? `(?<![\\w.-])${plain}(?![\\w-])` : plain, 'g')
}

function replaced(text: string, words: Words): string {
  return words.reduce((changed, [word, here]) => changed.replaceAll(pattern(word), () => here), text)
}

/** Replaces the ports of this run by those of the guide. */
function toGuide(text: string, words: Words): string {
  return replaced(
    text,
    words
      .filter(([word]) => isNumber(word) || /^[\d.]+$/.test(word))
      .map(([word, here]) => [here, word] as const),
  )
}
