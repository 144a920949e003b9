// environment -> config -> app -> signals. The only file that reads the environment or ends the process.
import { existsSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { App } from './app.ts'
import type { Config } from './config/config.ts'
import type { FirstBootSecrets } from './storage/first-boot.ts'
import type { LeveledLogger, Logger, LogLevel } from './lib/log.ts'

/**
 * Starts over within the same process, once, with limits on memory that can only be set at a start. V8 lets the young
 * generation of each thread grow to 128 MB on a large machine, and glibc gives each thread a heap that keeps the memory
 * that a password hash has freed: 20 MB and more.
 */
function boundMemory(): void {
  const isBound = process.execArgv.some((argument) => argument.startsWith('--max-semi-space-size'))
  // A parent with a channel to this process, such as `node --watch`, would lose it. The doctor only looks: it keeps
  // nothing, and runs no code from a directory that may be another user's.
  if (process.argv[2] === 'doctor') return
  if (isBound || process.channel !== undefined || process.platform === 'win32') return
  const { execPath, execArgv, argv, env } = process
  const args = [...execArgv, youngHeapBound, keepsWasm, ...argv.slice(1)]
  process.execve?.(execPath, [execPath, ...args], { ...mallocBounds, ...codeCache(env), ...env })
}

// In MB. Requests cost the same CPU with 2, 4, 8 and 64, as far as could be measured.
const youngHeapBound = '--max-semi-space-size=4'
// Larger blocks return to the system when they are freed, and threads share two heaps.
const mallocBounds = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '1048576' }

/**
 * V8 of Node 24 can end the process while it frees WebAssembly code that another thread has just started to use again:
 * each spoken text and each decoded file makes an instance. The code is that of a few modules, so it is kept.
 */
const keepsWasm = '--no-wasm-code-gc'

/** Returns the cache of an earlier start, so that this file and the settings need no stripping of types either. */
function codeCache(env: NodeJS.ProcessEnv): { readonly NODE_COMPILE_CACHE?: string } {
  const directory = codeCacheIn(env['SWITCHHOOK_DATA_DIR'] ?? './data')
  return existsSync(directory) ? { NODE_COMPILE_CACHE: directory } : {}
}

function codeCacheIn(dataDir: string): string {
  return join(dataDir, 'cache', 'code')
}

boundMemory()
// Needed if the process was not started over.
setFlagsFromString(keepsWasm)
// Imported only in the process that stays.
const { ConfigError, doubtsAbout, parseConfig, publishedSettings } = await import('./config/config.ts')
const { argumentsFault } = await import('./config/arguments.ts')
const { prepareDataDirectory } = await import('./data-directory.ts')
const { StartError } = await import('./lib/start-error.ts')

/** Ends the process if an argument is unknown: a person would believe that the argument is in force. */
function demandArguments(given: readonly string[]): void {
  const fault = argumentsFault(given)
  if (fault === undefined) return
  process.stderr.write(`${fault}\n`)
  process.exit(64)
}

function readConfig(): Config {
  try {
    return parseConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`Switchhook cannot start: a setting is wrong.\n${error.message}\n`)
    process.exit(78)
  }
}

/**
 * Keeps the result of compiling the sources (types stripped, code compiled) from start to start: half the time to
 * healthy, and no type stripper in memory, here and in the worker threads. Entries are checked against the sources'
 * contents.
 */
function cacheCode(dataDir: string): void {
  const directory = codeCacheIn(dataDir)
  if (enableCompileCache(directory).directory === undefined) return
  process.env['NODE_COMPILE_CACHE'] ??= directory
}

/** Returns who can reach the server: the addresses above are only those of this machine. */
function reachOf(bind: string): string {
  if (bind === '0.0.0.0' || bind === '::')
    return `every network of this machine (it listens on ${bind}); SWITCHHOOK_BIND=127.0.0.1 keeps it to this machine`
  if (bind === '::1' || bind.startsWith('127.')) return `this machine alone (it listens on ${bind})`
  return `the network of ${bind}`
}

/** The longest list of addresses: a machine with containers has one for each of their networks. */
const maxShown = 4

function phoneProxies({ sipUri, sipUrisForOthers: [...uris] }: App): string {
  const [first, ...others] = uris.slice(0, maxShown)
  if (first === undefined) return `outbound proxy ${sipUri}, for phones on this machine`
  const or = others.length === 0 ? '' : `, or ${others.join(', ')}`
  return `outbound proxy ${first}${or}: what a phone of your network takes`
}

function otherPorts(ports: App['sipPorts']): string {
  return Object.entries(ports)
    .map(([transport, port]) => `, ${transport.toUpperCase()} at ${port}`)
    .join('')
}

function greet(app: App): void {
  const lines = [
    '',
    'Switchhook is ready.',
    `  API   ${app.apiUrl}${app.httpsPort === undefined ? '' : `, HTTPS at ${app.httpsPort}`}`,
    `  Docs  ${app.docsUrl}`,
    `  SIP   ${app.sipUri} (UDP and TCP)${otherPorts(app.sipPorts)}`,
    `  From  ${reachOf(config.bind)}`,
    `  Phone ${phoneProxies(app)}`,
    '  Try   npm run demo, in a second terminal: a call that you can watch',
  ]
  process.stdout.write(`${lines.join('\n')}\n\n`)
}

/** Prints the secrets. Rejects if the terminal has gone. */
function showSecrets(secrets: FirstBootSecrets): Promise<void> {
  const lines = ['', 'First boot. These are shown once; keep them:', ...firstBootLines(secrets)]
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(new StartError(secretsNotShown, { cause }))
    process.stdout.once('error', fail)
    process.stdout.write(`${lines.join('\n')}\n`, (error) => {
      if (error !== undefined && error !== null) return fail(error)
      process.stdout.off('error', fail)
      resolve()
    })
  })
}

const secretsNotShown =
  'The secrets of the first boot could not be written to standard output, so that none were made: start with an output that is open.'

function firstBootLines(secrets: FirstBootSecrets): string[] {
  const { isPasswordGiven, isApiKeyGiven, isAccountApiKeyGiven } = secrets
  return [
    ...adminLines(
      secrets.username,
      isPasswordGiven ? '(as set in SWITCHHOOK_ADMIN_PASSWORD)' : secrets.password,
      isApiKeyGiven ? '(as set in SWITCHHOOK_ADMIN_API_KEY)' : secrets.apiKey,
    ),
    shownLine('account', secrets.account_sid),
    shownLine(
      'account API key',
      isAccountApiKeyGiven ? '(as set in SWITCHHOOK_ACCOUNT_API_KEY)' : secrets.accountApiKey,
    ),
  ]
}

function adminLines(username: string, password: string, apiKey: string): string[] {
  return [
    shownLine('admin user', username),
    shownLine('admin password', password),
    shownLine('admin API key', apiKey),
  ]
}

function shownLine(name: string, value: string): string {
  return `  ${name.padEnd(17)}${value}`
}

/**
 * Ends the process. A failure that the operator can repair is one sentence; any other is a bug, whose stack is logged
 * too.
 */
async function fail(intro: string, error: unknown, log: Logger): Promise<never> {
  const { AppError } = await import('./lib/errors.ts')
  const isKnown = error instanceof StartError || error instanceof AppError
  if (isKnown) log.debug({ err: error }, 'start failed')
  else log.error({ err: error }, 'start failed')
  const sentence = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${intro}: ${error instanceof AppError ? `${sentence}. ${error.cure}` : sentence}\n`)
  process.exit(1)
}

/** Writes readable lines at a terminal, JSON to a file or a pipe. */
async function openLog(level: LogLevel): Promise<LeveledLogger> {
  const { createLogger } = await import('./lib/log.ts')
  if (!process.stdout.isTTY) return createLogger(level)
  const { createTerminalLog } = await import('./lib/terminal-log.ts')
  // If the terminal is closed, the log ends, but the calls do not.
  process.stdout.on('error', () => undefined)
  return createLogger(level, createTerminalLog(process.stdout))
}

/** Runs `npm run reset-admin`. With the embedded database, the platform must be stopped. */
async function resetAdminSecrets(config: Config): Promise<never> {
  const { createStorage } = await import('./storage/create-storage.ts')
  const { resetAdmin } = await import('./storage/reset-admin.ts')
  const { systemClock } = await import('./lib/clock.ts')
  const log = await openLog('warn')
  const storage = createStorage({ ...config, clock: systemClock, log })
  try {
    await storage.start()
    const { username, password, apiKey } = await resetAdmin(storage)
    await storage.stop()
    const lines = ['These are shown once; keep them:', ...adminLines(username, password, apiKey)]
    process.stdout.write(`${lines.join('\n')}\n`)
    process.exit(0)
  } catch (error) {
    return await fail('The admin secrets were not changed', error, log)
  }
}

/** Runs `npm run doctor`, beside a running platform or before the first start. It changes nothing. */
async function seeDoctor(config: Config, options: readonly string[]): Promise<never> {
  for (const doubt of doubtsAbout(process.env)) process.stderr.write(`${doubt}.\n`)
  const { runDoctor } = await import('./parts/doctor.ts')
  const { countBad, reportOf } = await import('./doctor/report.ts')
  const results = await runDoctor(config, {
    isOffline: options.includes('--offline'),
    publishedSettings: publishedSettings(process.env),
  })
  const isColoured = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
  const code = countBad(results) === 0 ? 0 : 1
  process.stdout.write(reportOf(results, { isColoured }), () => process.exit(code))
  return new Promise<never>(() => undefined)
}

demandArguments(process.argv.slice(2))
const config = readConfig()
const [command, ...options] = process.argv.slice(2)
// Runs before anything is made or closed to others.
if (command === 'doctor') await seeDoctor(config, options)
let warning: string | undefined
try {
  warning = prepareDataDirectory(config.dataDir)
} catch (error) {
  await fail('Switchhook cannot start', error, await openLog('error'))
}
cacheCode(config.dataDir)
if (command === 'reset-admin') await resetAdminSecrets(config)
// Imported once the cache is on.
const { createApp } = await import('./app.ts')
const { collectGarbage } = await import('./lib/collect-garbage.ts')

const log = await openLog(config.logLevel)
if (warning !== undefined) log.warn({ warning }, 'data directory is open to others')
for (const doubt of doubtsAbout(process.env)) log.warn({ doubt }, 'a setting may be misspelt')
const app = createApp(config, log)

let isUp = false
let isStopping = false
const starting = new AbortController()
async function stop(mode: 'drain' | 'now'): Promise<void> {
  // A second signal means `now`.
  const effective = isStopping ? 'now' : mode
  log.info({ mode: effective }, 'stopping')
  if (!isUp) return stopStart()
  isStopping = true
  try {
    await app.stop(effective)
    process.exit(0)
  } catch (error) {
    log.error({ err: error }, 'stop failed')
    process.exit(1)
  }
}

/** Lets the part that is starting come up, or fail: a database that does not respond may take ten seconds for that. */
function stopStart(): void {
  if (isStopping) process.exit(1)
  isStopping = true
  starting.abort()
}

process.on('SIGTERM', () => void stop('drain'))
process.on('SIGINT', () => void stop('now'))
stopWithNpm()
// A program that has started this one with a channel, such as the demo, has ended.
process.once('disconnect', () => void stop('now'))

/** Stops with npm. It, and the shell that starts this process, end on a signal without passing it on. */
function stopWithNpm(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    if (!isStopping) void stop('drain')
  }, 500)
  look.unref()
}

// No failure goes unseen: a bug is logged with its stack, and the supervisor starts a clean process.
process.on('uncaughtException', (error) => {
  log.error({ err: error }, 'uncaught exception')
  process.exit(70)
})
process.on('unhandledRejection', (reason) => {
  log.error({ err: reason }, 'unhandled rejection')
  process.exit(70)
})

try {
  await app.start(showSecrets, starting.signal)
  isUp = true
  greet(app)
  // Not left to the exit: a process that is killed has then cached its code too.
  flushCompileCache()
  // The start allocated memory that running does not need, and V8 alone would keep it.
  collectGarbage()
} catch (error) {
  if (error === starting.signal.reason) process.exit(0)
  await fail('Switchhook cannot start', error, log)
}
