// The fields of a credential's vendor: read from a body, checked against the vendor's rule, stored as one sealed text,
// and shown without the secrets.
import { AppError } from '../../lib/errors.ts'
import { readJson } from '../../lib/read-json.ts'
import type { Row } from '../../storage/storage.ts'
import { maskSecret, maskServiceKey } from './masking.ts'
import {
  has,
  settingFields,
  settingNames,
  vendorRule,
  isBrokenAddress,
  type SettingName,
  type Values,
  type VendorRule,
} from './vendors.ts'

export type CredentialRow = Row<'speech_credentials'>

export function demandRule(vendor: string): VendorRule {
  const rule = vendorRule(vendor)
  if (rule === undefined)
    throw new AppError('bad_request', 'vendor must be one of the known vendors, or custom:<name>')
  return rule
}

export function settingsOf({ settings }: Pick<CredentialRow, 'settings'>): Values {
  return JSON.parse(settings) as Values
}

/** Returns the settings of a new credential. */
export function takeSettings(rule: VendorRule, body: Values): Values {
  const settings: Record<string, unknown> = {}
  for (const name of settingNames(rule)) if (has(body, name)) settings[name] = body[name]
  demandWhole(rule, settings, body)
  return settings
}

/** Returns the settings after a change. Fixed fields may be sent back, as they are or as they were shown. */
export function changeSettings(row: CredentialRow, body: Values): Values {
  const rule = demandRule(row.vendor)
  const settings: Record<string, unknown> = { ...settingsOf(row) }
  const shown = showSettings(row, 'masked')
  for (const name of settingNames(rule)) {
    const sent = body[name]
    if (sent === undefined) continue
    if (rule.changeable.includes(name)) {
      if (has(body, name)) settings[name] = sent
      else delete settings[name]
    } else if (has(body, name) && sent !== settings[name] && sent !== shown[name])
      throw new AppError('bad_request', `${name} of a speech credential cannot be changed`, {
        cure: 'Make a new credential and remove this one.',
      })
  }
  demandWhole(rule, settings, { ...row, ...body })
  return settings
}

/** Returns the settings as they are shown: secrets masked, or left out for accounts that only share the credential. */
export function showSettings(row: CredentialRow, secrets: 'masked' | 'left out'): Values {
  const rule = demandRule(row.vendor)
  const stored = settingsOf(row)
  const shown: Record<string, unknown> = {}
  for (const name of settingNames(rule)) {
    const value = stored[name]
    if (value === undefined) continue
    if (!rule.secret.includes(name) || typeof value !== 'string') shown[name] = value
    else if (secrets === 'masked' || name === 'service_key') shown[name] = maskOf(name, value)
  }
  return shown
}

function maskOf(name: SettingName, value: string): string {
  return name === 'service_key' ? maskServiceKey(value) : maskSecret(value)
}

function demandWhole(rule: VendorRule, settings: Values, uses: Values): void {
  const missing = rule.required?.find((name) => !has(settings, name))
  if (missing !== undefined) throw new AppError('bad_request', `${missing} is required`)
  const broken = settingNames(rule).find(
    (name) => has(settings, name) && isBrokenAddress(name, settings[name]),
  )
  if (broken !== undefined)
    throw new AppError('bad_request', `${broken} must name a server: a host, or a URL without a user name`)
  const fault = rule.fault?.(settings, uses)
  if (fault !== undefined) throw new AppError('bad_request', fault)
  const { service_key, options } = settings
  if (typeof options === 'string') parseObject('options', options)
  if (typeof service_key !== 'string') return
  const key = parseObject('service_key', service_key)
  for (const name of ['client_email', 'private_key'])
    if (typeof key[name] !== 'string' || key[name] === '')
      throw new AppError('bad_request', `service_key must have a ${name}`)
}

function parseObject(name: string, source: string): Values {
  let value: unknown
  try {
    value = readJson(source)
  } catch (cause) {
    throw new AppError('bad_request', `${name} must be JSON text`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('bad_request', `${name} must be the JSON text of an object`)
  return value as Values
}

export const optionalSettings = Object.fromEntries(
  Object.entries(settingFields).map(([name, field]) => [name, field.optional()]),
)
