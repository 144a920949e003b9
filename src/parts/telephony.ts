// The SIP stack, the call engine, registrations with carriers, and the delivery of what calls report.
import { createOrderReader } from '../api/calls/read-order.ts'
import { createCalls } from '../calls/create-calls.ts'
import type { TeamsFacts } from '../calls/ports.ts'
import { createDeviceLimits } from '../directory/device-limits.ts'
import { createRegistrationHook } from '../directory/registration-hook.ts'
import { createTrunkDirectory } from '../directory/trunks.ts'
import { actingTenant } from '../lib/acting-for.ts'
import { portPairs } from '../media/transport/ports.ts'
import { createAddressGuard, createRangeGuard } from '../network/address-guard.ts'
import { createSockets } from '../outgoing/create-sockets.ts'
import { createSip } from '../sip/create-sip.ts'
import type { Sip, SipDirectory } from '../sip/sip.ts'
import { transports } from '../sip/transport/transports.ts'
import { createShaken } from '../shaken/create-shaken.ts'
import { secureSip } from './secure.ts'
import { createTeamsFacts } from './teams.ts'
import { readCommands, readFrame } from '../commands/index.ts'
import { parseVerbs, stepsOfVerbs } from '../verbs/index.ts'
import { readSentVerbs } from './sent-verbs.ts'
import { createAppSockets } from '../webhooks/create-app-sockets.ts'
import { createTrunks } from '../trunks/create-trunks.ts'
import type { Trunks } from '../trunks/trunks.ts'
import { createDelivery } from '../webhooks/create-delivery.ts'
import { createHooks } from '../webhooks/create-hooks.ts'
import type { Base } from './base.ts'
import type { Sound } from './sound.ts'

const userAgent = 'Switchhook'

// A phone waits less long for its registration than a caller for an application.
const registrationBudgets = { answerMs: 3000, totalMs: 5000, maxAnswerBytes: 64 * 1024 }

export type Telephony = ReturnType<typeof createTelephony>

/** Creates the SIP stack and the call engine, which use each other, and the delivery of what calls report. */
export function createTelephony(base: Base, sound: Sound, apiBaseUrl: () => string | undefined) {
  const { config, log, clock, storage, directory, outgoing, threadTime } = base
  const { signingSecret } = directory
  const {
    shakenAuthorities: authoritiesFile,
    shakenKey: keyFile,
    shakenCertificateUrl: certificateUrl,
  } = config
  const shaken = createShaken({ authoritiesFile, keyFile, certificateUrl, outgoing, clock, log })
  const teams = createTeamsFacts(config, base.certificates)
  const calls = createCalls({
    ...enginePorts(base, sound),
    teams,
    numberTrust: shaken,
    sip: () => sip,
    trunks: {
      registeredOver: (sid) => trunks.registeredOver(sid),
      routesOf: (sid) => trunks.routesOf(sid),
      isUp: (sid) => trunks.isUp(sid),
      noted: (sid, sign) => trunks.noted(sid, sign),
    },
    verbs: (list) => threadTime.charge(actingTenant(), () => parseVerbs(list)),
    readVerbs: (list, { account_sid, signal }) =>
      threadTime.inTurn(account_sid, stepsOfVerbs(list), { signal }),
    threadTime,
    commands: readCommands,
    frames: readFrame,
    orders: createOrderReader((list) => readSentVerbs(threadTime, list)),
    random: Math.random,
    maxMedia: portPairs(config.rtpPorts),
    sharePercent: base.sharePercent,
    clock,
    log,
    publicAddress: config.publicAddress,
    ringingMs: config.ringingMs,
    apiBaseUrl,
  })
  const { besideApi: webSockets, ...secure } = secureSip(config, base.certificates)
  const sip = createSip({
    bind: config.bind,
    port: config.sipPort,
    ...secure,
    publicAddress: config.publicAddress,
    directory: createPhoneDirectory(base, teams, () => sip.bindings),
    handlers: calls,
    serves: { referrals: true, replaces: true, messages: true, recordings: true },
    seal: (text) => storage.mac('sip passage', text),
    clock,
    log,
    userAgent,
    bindingArchive: storage.registrations,
    isProxy: createRangeGuard(config.sipProxies),
    digestAlgorithms: config.sipDigest,
    lookup: base.names.lookup,
    names: base.names,
  })
  const trunks = createRegistrations(base, sip, teams)
  base.learnt.at = (address) => trunks.registrarsAt(address)
  const { outbox, alerts } = storage
  const ways = { outgoing, appSockets: openAppSockets(base), signingSecret, userAgent }
  const delivery = createDelivery({ ...ways, outbox, alerts, clock, log })
  return { sip, webSockets, calls, shaken, trunks, delivery }
}

/** Decides who may register, and with how many phones. */
function createPhoneDirectory(
  { directory, storage, outgoing, threadTime, clock, log }: Base,
  teams: TeamsFacts,
  bindings: () => Sip['bindings'],
): SipDirectory {
  const { alerts } = storage
  const { registrationHook: hookOf, signingSecret } = directory
  const budgets = registrationBudgets
  const hooks = createHooks({ outgoing, signingSecret, threadTime, clock, log, userAgent, budgets })
  return {
    ...directory,
    // Over TLS only: the source address of a datagram can be forged.
    gatewayOwners: (address, transport) =>
      directory.gatewayOwners(address) ??
      (transports[transport].isSecure && teams.isAddress(address) ? [] : undefined),
    judgeOf: createRegistrationHook({ hookOf, hooks, alerts, clock }),
    admitDevice: createDeviceLimits({ storage, alerts, bindings }),
  }
}

/** Creates the registrations with carriers. */
function createRegistrations(
  { config, storage, names, clock, log }: Base,
  sip: Sip,
  teams: TeamsFacts,
): Trunks {
  const { publicAddress } = config
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    const found = await names.lookup(host).catch(() => [])
    return found.map(({ address }) => address)
  }
  return createTrunks({
    sip,
    directory: createTrunkDirectory(storage, teams.proxies),
    demandName: teams.demandReady,
    store: storage.carrierRegistrations,
    alerts: storage.alerts,
    addressesOf,
    publicAddress,
    random: Math.random,
    clock,
    log,
  })
}

function openAppSockets({ config, clock, allow, directory, names }: Base) {
  return createAppSockets({
    sockets: createSockets({ allow, resolve: names.lookup, clock }),
    signingSecret: directory.signingSecret,
    clock,
    userAgent,
    maxMessageBytes: config.socketMaxMessageBytes,
    pingMs: config.socketPingSeconds * 1000,
  })
}

/** Returns the parts that the engine uses, in the shapes that it declares. */
function enginePorts(base: Base, { media, speech, audio, recordings, streams, recognition }: Sound) {
  const { config, log, clock, allow, storage, directory, carrierHosts, outgoing, threadTime } = base
  const { signingSecret } = directory
  return {
    media,
    directory,
    isAllowedAddress: createAddressGuard(allow),
    reservesCarriers: config.adminCarriers,
    isAllowedHop: createAddressGuard([...allow, ...config.sipProxies]),
    isSipProxy: createRangeGuard(config.sipProxies),
    carrierCalled: carrierHosts.carrierCalled,
    hooks: createHooks({ outgoing, signingSecret, threadTime, clock, log, userAgent }),
    appSockets: openAppSockets(base),
    store: storage.calls,
    alerts: storage.alerts,
    usage: storage.outdialUsage,
    speech,
    audio,
    recorder: recordings,
    streams,
    recognition,
  }
}
