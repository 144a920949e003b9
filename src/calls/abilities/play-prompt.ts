// The prompt of a question. If it fails, the caller can still answer.
import { AppError } from '../../lib/errors.ts'

export async function play(
  prompt: ((signal: AbortSignal) => Promise<void>) | undefined,
  signal: AbortSignal,
  onProblem: (error: AppError) => void,
): Promise<void> {
  try {
    await prompt?.(signal)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!signal.aborted) onProblem(error)
  }
}
