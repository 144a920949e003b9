// Keys that a role of AWS lends for an hour: the form that asks its STS for them, and its response.
import type { AwsKeys } from './sign-aws.ts'

export function roleForm(role: string): string {
  return new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'switchhook',
    DurationSeconds: '3600',
  }).toString()
}

export interface LentKeys {
  readonly keys: AwsKeys
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Reads the keys by their tags: the response is flat, and no value contains markup. Returns undefined without keys. */
export function readLentKeys(body: Buffer): LentKeys | undefined {
  const text = body.toString('utf8')
  const tag = (name: string): string => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1]?.trim() ?? ''
  const accessKeyId = tag('AccessKeyId')
  const secretAccessKey = tag('SecretAccessKey')
  const sessionToken = tag('SessionToken')
  if (accessKeyId === '' || secretAccessKey === '' || sessionToken === '') return undefined
  const expiresAt = Date.parse(tag('Expiration'))
  return { keys: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: expiresAt || 0 }
}
