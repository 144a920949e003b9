// A disk that can really be full: a separate volume, if the system allows mounting one.
import { spawnSync } from 'node:child_process'

export interface SmallVolume {
  unmount(): void
}

/** Mounts a volume, or returns a sentence why there can be none. */
export function mountVolume(path: string, size: string): SmallVolume | string {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])
  if (status !== 0) return `a volume cannot be mounted here: ${String(stderr)}`
  return { unmount: () => void spawnSync('umount', ['-l', path]) }
}
