// The reason why a socket could not be opened, with the setting to change, for the operator.
import { StartError } from '../lib/start-error.ts'

export interface ListenPlace {
  /** The setting that names the port. */
  readonly setting: string
  readonly transport: 'TCP' | 'UDP'
  readonly address: string
  readonly port: number
}

/** Returns a failure that the operator can repair as a StartError, and any other as it is. */
export function toListenError(error: unknown, { setting, transport, address, port }: ListenPlace): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const where = `${transport} port ${port} of ${address}`
  switch (code) {
    case 'EADDRINUSE':
      return new StartError(
        `${where} is in use by another program: stop that program, or set ${setting} to a free port.`,
        { cause: error },
      )
    case 'EACCES':
      return new StartError(
        `This user may not listen on ${where}: set ${setting} to a port above 1023, or start as a user who may.`,
        { cause: error },
      )
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return new StartError(
        `This machine has no address ${address}: set SWITCHHOOK_BIND to one that it has, or to 0.0.0.0 for all of them.`,
        { cause: error },
      )
    default:
      return error
  }
}
