import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { showError } from '../lib/live/toasts.ts'
import { Icon, type IconName } from './icon.tsx'

type Kind = 'primary' | 'plain' | 'danger' | 'quiet'
type ButtonProps = {
  readonly kind?: Kind
  readonly icon?: IconName
  readonly text?: string
  /** Instead of a text. */
  readonly children?: ComponentChildren
  readonly label?: string
}

const buttonContent = ({ icon, text, children = text }: ButtonProps) => (
  <>
    {icon && <Icon name={icon} />}
    {children !== undefined && <span>{children}</span>}
  </>
)

/**
 * A button that is disabled while its action runs and shows the action's error.
 * @param label accessible name of an icon button
 */
export function Button({
  onPress,
  disabled,
  submit,
  busy = false,
  ...rest
}: ButtonProps & { onPress?: () => unknown; disabled?: boolean; submit?: boolean; busy?: boolean }) {
  const [isWorking, setWorking] = useState(false)
  async function handlePress() {
    if (!onPress || isWorking || busy) return
    const result = onPress()
    if (!(result instanceof Promise)) return
    setWorking(true)
    try {
      await result
    } catch (error) {
      showError(error)
    } finally {
      setWorking(false)
    }
  }
  const isBusy = isWorking || busy
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${rest.kind ?? 'plain'}`}
      aria-label={rest.label}
      title={rest.label}
      aria-busy={isBusy}
      aria-disabled={isBusy || undefined}
      disabled={disabled}
      onClick={onPress ? handlePress : undefined}
    >
      {buttonContent(rest)}
    </button>
  )
}

export const ButtonLink = ({ href, ...rest }: ButtonProps & { href: string }) => (
  <a class={`button ${rest.kind ?? 'plain'}`} href={href} aria-label={rest.label} title={rest.label}>
    {buttonContent(rest)}
  </a>
)

/** Links to the form of a new record. */
export const CreateLink = ({ href, text }: { href: string; text: string }) => (
  <ButtonLink icon="plus" kind="primary" href={href} text={text} />
)
