// The forms in which an application writes a hook, and their conversion to a complete one.
import type { Hook } from '../../contracts/hook.ts'

/** An absolute URL, a path on the application's host, or an object with either. */
export type HookForm =
  | string
  | {
      readonly url: string
      readonly method?: string
      /** Null means no credentials, even if the application has some. */
      readonly username?: string | null
      readonly password?: string | null
      readonly basicAuth?: { readonly username: string; readonly password: string }
    }

export interface HookContext {
  /** The URL that the running verbs came from. Undefined if they came from app_json and there is no call hook. */
  readonly base: string | undefined
  /** The call hook of the application. Its credentials are also used for other hooks of the same origin. */
  readonly application: Hook | null
}

export function toHook(form: HookForm, { base, application }: HookContext): Hook {
  const given = typeof form === 'string' ? { url: form } : form
  const url = toSocketUrl(resolveUrl(given.url, base), given)
  const method = given.method?.toUpperCase() === 'GET' ? 'GET' : 'POST'
  const own = given.basicAuth ?? given
  const { username, password } = own
  if (username === null || password === null)
    return { url, method, username: username ?? null, password: password ?? null }
  if (username !== undefined && password !== undefined) return { url, method, username, password }
  const inherits = application !== null && isSameOrigin(url, application.url)
  return {
    url,
    method,
    username: inherits ? application.username : null,
    password: inherits ? application.password : null,
  }
}

/** Returns a URL that cannot be resolved unchanged: the sender refuses it by name. */
export function resolveUrl(url: string, base: string | undefined): string {
  if (base === undefined || !url.startsWith('/') || !URL.canParse(url, base)) return url
  // "//host/x" would otherwise leave the application's host.
  const { pathname, search, hash } = new URL(url.replace(/^\/+/, '/'), base)
  return `${new URL(base).origin}${pathname}${search}${hash}`
}

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin
}

export type HookWay = 'http' | 'socket' | 'relative'

/** Returns the transport that a hook names, or `relative` for a path or a bare name. */
export function wayOf(form: HookForm): HookWay {
  const given = typeof form === 'string' ? { url: form } : form
  const url = toSocketUrl(given.url, given)
  if (/^wss?:/i.test(url)) return 'socket'
  return /^[a-z][a-z0-9+.-]*:/i.test(url) ? 'http' : 'relative'
}

/** Reports whether the hook is a path, which must be resolved first. Bare names are for sockets. */
export function isPath(form: HookForm): boolean {
  return (typeof form === 'string' ? form : form.url).startsWith('/')
}

/** Reports whether the hook has the method WS, which sends an HTTP address or a path over WebSocket. */
export function asksForSocket(form: HookForm): boolean {
  return typeof form === 'object' && form.method?.toUpperCase() === 'WS'
}

function toSocketUrl(url: string, form: Exclude<HookForm, string>): string {
  return asksForSocket(form) ? url.replace(/^http(s?):\/\//i, 'ws$1://') : url
}

/** Returns the address of files beside a socket. */
export function toHttpUrl(url: string): string {
  return url.replace(/^ws/i, 'http')
}
