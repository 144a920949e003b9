// The cures for faults of a carrier, by its response.
import type { RegistrationCause } from '../../contracts/carrier-registration.ts'

const cures = {
  inactive: 'Set is_active of the carrier to 1.',
  early: 'Wait a few seconds and test again; the alerts of the account say what fails.',
  registration:
    'Compare register_username, register_password and register_sip_realm with what the carrier gave you.',
  'no-registrar': 'Add a gateway with outbound true and is_active 1, or set register_sip_realm.',
  'silent-registrar':
    'Check the name and port of the registrar (the gateways with outbound true, or register_sip_realm), its protocol, and that the firewall lets SIP out.',
  'busy-registrar':
    'The registrar is out of order: the platform tries again by itself; ask the carrier if it stays so.',
  'no-gateway':
    'Add a gateway with outbound true and is_active 1, whose protocol is served (tls needs SWITCHHOOK_SIPS_PORT).',
  silent:
    'Check ipv4, port and protocol of the gateway, that the firewall lets SIP out, and that the carrier has allowed your public address.',
  credentials: 'Check register_username and register_password.',
  forbidden:
    'Ask the carrier to allow your public address and the calling number; where it wants a password, set register_username and register_password.',
  number:
    'Check how the carrier wants numbers: e164_leading_plus and tech_prefix, and that it may call this destination.',
  media: 'Ask the carrier to take G.711 (PCMU, PCMA).',
  busy: 'The carrier has no room or is out of order: try again later, or ask it how many calls you may have.',
  other: 'The journal of the call, or the carrier, says more.',
} as const

export function cureOf(cause: keyof typeof cures | number): string {
  return cures[typeof cause === 'number' ? causeOf(cause) : cause]
}

function causeOf(status: number): keyof typeof cures {
  if (status === 401 || status === 407) return 'credentials'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410 || status === 484 || status === 604) return 'number'
  if (status === 408) return 'silent'
  if (status === 415 || status === 488 || status === 606) return 'media'
  return status >= 500 && status < 600 ? 'busy' : 'other'
}

const registrationCures: Readonly<Record<RegistrationCause, string>> = {
  no_registrar: cures['no-registrar'],
  unreachable: cures['silent-registrar'],
  silent: cures['silent-registrar'],
  unavailable: cures['busy-registrar'],
  refused: cures.registration,
}

/** Returns the cure for a failed REGISTER by the `cause` in `register_status`. */
export function registrationCureOf(cause: RegistrationCause): string {
  return registrationCures[cause]
}
