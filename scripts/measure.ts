// Figures about the code, printed beside their targets. Nothing gates on them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { knotsOf } from './house/circles.ts'
import { roomsOf } from './house/map.ts'
import { importsOf } from './house/sources.ts'

const root = join(import.meta.dirname, '..')

interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
}

interface Figure {
  readonly what: string
  readonly target: string
  readonly figure: string
  /** The place of the largest one, where to begin. */
  readonly where?: string
}

function read(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = `${folder}/${name.replaceAll('\\', '/')}`
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, lines: text.trimEnd().split('\n') }
    })
}

const isTest = ({ path }: SourceFile): boolean => path.endsWith('.test.ts') || path.startsWith('test/')

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function largest<T>(items: readonly T[], sizeOf: (item: T) => number): T | undefined {
  return [...items].sort((a, b) => sizeOf(b) - sizeOf(a))[0]
}

function percent(part: number, whole: number, digits = 1): string {
  return whole === 0 ? '-' : `${((part / whole) * 100).toFixed(digits)} %`
}

function filesAndRooms(code: readonly SourceFile[]): Figure {
  const figure = `${code.length} / ${roomsOf(root).length}`
  return { what: 'files / rooms (folders)', target: '-', figure }
}

interface Tied {
  readonly path: string
  readonly imports: number
  readonly importers: number
}

/** Returns the sources that each file imports, and those that import it, without tests. */
function tiesOf(code: readonly SourceFile[]): readonly Tied[] {
  const paths = new Set(code.map(({ path }) => path))
  const importsByPath = new Map(
    code.map(({ path, text }) => [path, new Set(importsOf(path, text).filter((name) => paths.has(name)))]),
  )
  const importers = new Map<string, number>()
  for (const names of importsByPath.values())
    for (const name of names) importers.set(name, (importers.get(name) ?? 0) + 1)
  return code.map(({ path }) => ({
    path,
    imports: importsByPath.get(path)?.size ?? 0,
    importers: importers.get(path) ?? 0,
  }))
}

const shownFiles = 8

/**
 * A file with many ties is hard to change and hard to understand alone. One with types only, or an error class, has many
 * importers and few imports, and does no harm: so the largest are named by both.
 */
function ties(code: readonly SourceFile[]): readonly Figure[] {
  const files = tiesOf(code)
  const sizes = files.map(({ imports, importers }) => imports + importers)
  const named = (sizeOf: (file: Tied) => number): string =>
    [...files]
      .sort((a, b) => sizeOf(b) - sizeOf(a))
      .slice(0, shownFiles)
      .map(({ path, imports, importers }) => `${path} ${imports} + ${importers}`)
      .join(', ')
  return [
    {
      what: 'ties of a file (imports + importers): median / p90 / max',
      target: '-',
      figure: [quantile(sizes, 0.5), quantile(sizes, 0.9), Math.max(0, ...sizes)].join(' / '),
      where: named(({ imports, importers }) => imports + importers),
    },
    {
      what: 'imports of a file: median / p90 / max',
      target: '-',
      figure: [0.5, 0.9, 1]
        .map((share) =>
          quantile(
            files.map(({ imports }) => imports),
            share,
          ),
        )
        .join(' / '),
      where: named(({ imports }) => imports),
    },
  ]
}

const maxFunctionLines = 60

interface Diagnostic {
  readonly code: string
  readonly filename: string
  readonly labels: readonly { readonly span: { offset: number; length: number; line: number } }[]
}

function lint(config: object): Diagnostic[] {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-measure-'))
  try {
    const path = join(folder, 'oxlint.json')
    writeFileSync(path, JSON.stringify(config))
    const args = ['-c', path, '--format', 'json', 'src']
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    })
    return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface FunctionSpan {
  readonly path: string
  readonly first: number
  readonly last: number
}

/**
 * Counts the lines of functions. The linter reports whole spans; a function's own lines exclude functions inside it.
 */
function functionLines(code: readonly SourceFile[]): readonly Figure[] {
  const bytesOf = new Map(code.map(({ path, text }) => [path, Buffer.from(text)]))
  const spans: FunctionSpan[] = lint({
    plugins: [],
    categories: { correctness: 'off' },
    rules: { 'max-lines-per-function': ['error', { max: 0 }] },
  }).flatMap(({ filename, labels }) => {
    const bytes = bytesOf.get(filename.replaceAll('\\', '/'))
    const span = labels[0]?.span
    if (bytes === undefined || span === undefined) return []
    const text = bytes.toString('utf8', span.offset, span.offset + span.length)
    return [{ path: filename, first: span.line, last: span.line + text.split('\n').length - 1 }]
  })
  const own = spans.map((span) => ({ ...span, lines: ownLines(span, spans) }))
  const sizes = own.map(({ lines }) => lines)
  const top = largest(own, ({ lines }) => lines)
  const long = own.filter(({ lines }) => lines > maxFunctionLines)
  return [
    {
      what: 'function own lines: median / p90 / max',
      target: '- / 25 / 60',
      figure: [quantile(sizes, 0.5), quantile(sizes, 0.9), Math.max(0, ...sizes)].join(' / '),
      ...(top && { where: `${top.path}:${top.first}` }),
    },
    {
      what: `functions over ${maxFunctionLines} own lines`,
      target: '0',
      figure: String(long.length),
      where: long.map(({ path, first }) => `${path}:${first}`).join(', '),
    },
  ]
}

function ownLines(outer: FunctionSpan, spans: readonly FunctionSpan[]): number {
  const inner = new Set<number>()
  for (const { path, first, last } of spans) {
    if (path !== outer.path || first < outer.first || last > outer.last) continue
    if (first === outer.first && last === outer.last) continue
    for (let line = first + 1; line <= last; line += 1) inner.add(line)
  }
  return outer.last - outer.first + 1 - inner.size
}

function commentShare(code: readonly SourceFile[]): Figure {
  const lines = code.flatMap((file) => file.lines).filter((line) => line.trim() !== '')
  const comments = lines.filter(isComment)
  return { what: 'comment share', target: '8 to 15 %', figure: percent(comments.length, lines.length) }
}

function rfcReferences(code: readonly SourceFile[]): Figure {
  const protocol = code.filter(({ path }) => /^src\/(sip|media)\//.test(path))
  const lines = protocol.reduce((sum, file) => sum + file.lines.length, 0)
  const references = protocol.reduce((sum, { text }) => sum + [...text.matchAll(/RFC \d{3,5} §/g)].length, 0)
  const figure = lines === 0 ? '-' : ((references / lines) * 1000).toFixed(1)
  return { what: 'RFC references per 1,000 lines, sip/ and media/', target: '8 or more', figure }
}

function importCycles(): Figure {
  const cycles = lint({
    plugins: ['import'],
    categories: { correctness: 'off' },
    rules: { 'import/no-cycle': 'error' },
  })
  const figure = String(cycles.length)
  return {
    what: 'import cycles of values',
    target: '0',
    figure,
    ...(cycles[0] && { where: cycles[0].filename }),
  }
}

/** Finds sets of files that reach each other, also through type imports. */
function circles(code: readonly SourceFile[]): Figure {
  const knots = knotsOf(code.map(({ path, text }) => ({ path, text, imports: importsOf(path, text) })))
  const figure = String(knots.length)
  return {
    what: 'circles of imports with types',
    target: '0',
    figure,
    where: knots.map(([first]) => first).join(', '),
  }
}

function linesOf(code: readonly SourceFile[]): Figure {
  const written = code.filter(({ path }) => path !== 'src/storage/tables.ts')
  const figure = String(written.reduce((sum, file) => sum + file.lines.length, 0))
  return { what: 'lines of src, without tests and what is generated', target: '-', figure }
}

const windowLines = 6

/** Counts lines within a stretch of at least six that occurs elsewhere as well, ignoring blanks and indentation. */
function repeatedLines(code: readonly SourceFile[]): Figure {
  const stripped = code.map(({ path, lines }) => ({
    path,
    lines: lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !/^(import|\/\/|[\])}]+;?$)/.test(line)),
  }))
  const seen = new Map<string, { path: string; at: number }[]>()
  for (const { path, lines } of stripped) {
    for (let at = 0; at + windowLines <= lines.length; at += 1) {
      const key = lines.slice(at, at + windowLines).join('\n')
      seen.set(key, [...(seen.get(key) ?? []), { path, at }])
    }
  }
  const repeated = new Set<string>()
  for (const places of seen.values()) {
    if (places.length < 2) continue
    for (const { path, at } of places)
      for (let offset = 0; offset < windowLines; offset += 1) repeated.add(`${path}:${at + offset}`)
  }
  const total = stripped.reduce((sum, { lines }) => sum + lines.length, 0)
  const first = [...repeated][0]?.split(':')[0]
  return {
    what: 'repeated lines',
    target: 'under 0.25 %',
    figure: percent(repeated.size, total, 2),
    ...(first !== undefined && { where: first }),
  }
}

function testLines(code: readonly SourceFile[], tests: readonly SourceFile[]): Figure {
  const count = (files: readonly SourceFile[]): number =>
    files.reduce((sum, { lines }) => sum + lines.filter((line) => line.trim() !== '').length, 0)
  const figure = (count(tests) / Math.max(1, count(code))).toFixed(2)
  return { what: 'test lines per code line', target: '1.2 or more', figure }
}

const isComment = (line: string): boolean => /^\s*(\/\/|\/\*|\*)/.test(line)

/**
 * Compares a part with its tests, without blank lines and comments, as a part may have more comments than its tests.
 */
function testLinesOf(part: string): Figure {
  const beside = sources.filter(({ path }) => path.startsWith(`src/${part}/`))
  const count = (files: readonly SourceFile[]): number =>
    files.flatMap(({ lines }) => lines).filter((line) => line.trim() !== '' && !isComment(line)).length
  const tested = count(beside.filter(isTest))
  const figure = (tested / Math.max(1, count(beside.filter((file) => !isTest(file))))).toFixed(2)
  return { what: `test lines per code line, ${part}/, without comments`, target: '1.0 or more', figure }
}

function productionDependencies(): Figure {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const figure = String(Object.keys(manifest.dependencies).length)
  return { what: 'production dependencies', target: 'each one argued', figure }
}

function print(figures: readonly Figure[]): void {
  const rows = [
    { what: 'measure', target: 'target', figure: 'now', where: 'largest' },
    ...figures.map((row) => ({ where: '', ...row })),
  ]
  const width = (key: 'what' | 'target' | 'figure'): number => Math.max(...rows.map((row) => row[key].length))
  const [what, target, figure] = [width('what'), width('target'), width('figure')]
  for (const row of rows)
    console.log(
      `${row.what.padEnd(what)}  ${row.target.padEnd(target)}  ${row.figure.padEnd(figure)}  ${row.where}`.trimEnd(),
    )
}

const sources = read('src')
const code = sources.filter((file) => !isTest(file))
const tests = [...sources.filter(isTest), ...read('test')]
print([
  filesAndRooms(code),
  linesOf(code),
  ...ties(code),
  ...functionLines(code),
  commentShare(code),
  rfcReferences(code),
  importCycles(),
  circles(code),
  repeatedLines(code),
  testLines(code, tests),
  ...['calls', 'sip', 'media', 'trunks', 'recordings', 'streams'].map(testLinesOf),
  productionDependencies(),
])
