import { signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { dirtySources, isDirty } from '../lib/session/unsaved-changes.ts'
import { Button } from './button.tsx'
import { Toasts } from './toast.tsx'

/** The open dialogs, the topmost last. */
const openDialogs = signal<readonly symbol[]>([])

/** Toasts of the page. An open dialog shows them itself, because the page behind it is inert. */
export const PageToasts = () => (openDialogs.value.length === 0 ? <Toasts /> : null)

/** A modal dialog: keeps the focus, closes on Escape, and restores the focus. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
  typing,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
  wide?: boolean
  /** Focuses the first field. */
  typing?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  const [me] = useState(() => Symbol(title))
  const id = useId()
  // Behind the login the dialog would still keep the focus.
  const isAway = sessionStatus.value === 'locked'
  useEffect(() => {
    const dialog = box.current
    if (!dialog || isAway) return
    const before = document.activeElement
    dialog.showModal()
    openDialogs.value = [...openDialogs.peek(), me]
    if (typing) dialog.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')?.focus()
    return () => {
      openDialogs.value = openDialogs.peek().filter((one) => one !== me)
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [isAway])
  return (
    <dialog
      ref={box}
      class={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // Browsers close a dialog on a repeated Escape; it is reopened and asks again.
        if (!openDialogs.peek().includes(me)) return
        box.current?.showModal()
        onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label={common('close')} onPress={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {openDialogs.value.at(-1) === me && <Toasts />}
    </dialog>
  )
}

type Question = {
  readonly title: string
  readonly body?: ComponentChildren
  /** Text of the confirming button: the action, not "OK". */
  readonly action: string
  /** Text of the other button; "Cancel" by default. */
  readonly otherwise?: string
  readonly danger?: boolean
}
/** The pressed button; undefined if the dialog was closed or another question replaced it. */
type QuestionAnswer = 'action' | 'otherwise' | undefined
const openQuestion = signal<(Question & { answer: (chosen: QuestionAnswer) => void }) | undefined>(undefined)

/** Asks a question whose two buttons both act; closing it is a third answer. */
export function askChoice(question: Question): Promise<QuestionAnswer> {
  openQuestion.value?.answer(undefined)
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      answer(chosen) {
        openQuestion.value = undefined
        resolve(chosen)
      },
    }
  })
}

/** Closes a question whose subject is no longer shown. */
export const dismissQuestion = (): void => openQuestion.value?.answer(undefined)

/** Asks before an irreversible action. */
export const confirm = async (question: Question): Promise<boolean> => (await askChoice(question)) === 'action'

/** Returns whether a form is being sent. */
const isSending = (): boolean => document.querySelector('form[aria-busy=true]') !== null
const checkMs = 100

/**
 * Asks before unsaved content is lost. Resolves by itself if the content is saved meanwhile; stays on the page if a
 * running submit ends.
 * @param but sources that are not lost
 */
export function askToLeave(but?: ReadonlySet<symbol>): Promise<boolean> {
  const wasSending = isSending()
  const isOnce = !wasSending && isDirty(but, 'shown once')
  const isUpload = !wasSending && !isOnce && !isDirty(but, 'typed')
  const body = <p>{common(wasSending ? 'leaveSending' : isOnce ? 'leaveOnceText' : isUpload ? 'leaveUploadText' : 'leaveText')}</p>
  const action = common(isOnce ? 'leaveOnce' : 'leave')
  const title = common(isOnce ? 'leaveOnceTitle' : isUpload ? 'leaveUploadTitle' : 'leaveTitle')
  const chosen = confirm({ title, body, action, otherwise: common('stay'), danger: true })
  const mine = openQuestion.peek()
  const looking = setInterval(() => {
    if (openQuestion.peek() !== mine || isSending()) return
    if (!isDirty(but)) mine?.answer('action')
    else if (wasSending) mine?.answer(undefined)
  }, checkMs)
  return chosen.finally(() => clearInterval(looking))
}

/** Shows the open question; used once, in the shell. */
export function QuestionDialog() {
  const question = openQuestion.value
  if (!question) return null
  const { title, body, action, otherwise = common('cancel'), danger, answer } = question
  return (
    <Dialog key={title} title={title} onClose={() => answer(undefined)}>
      {body}
      <div class="form-actions">
        <Button kind={danger ? 'danger' : 'primary'} onPress={() => answer('action')} text={action} />
        <Button onPress={() => answer('otherwise')} text={otherwise} />
      </div>
    </Dialog>
  )
}

/** Closes the dialog around a component; undefined outside dialogs. */
export const CloseDialogContext = createContext<(() => Promise<void>) | undefined>(undefined)

/**
 * A form in a dialog. It asks before unsaved input is lost and stays open while sending, because the result can be a
 * code that is shown once.
 */
export function FormDialog({ onClose, children, ...rest }: Parameters<typeof Dialog>[0]) {
  // Unsaved input of the page behind is not lost.
  const [before] = useState(dirtySources)
  const isOver = useRef(false)
  useLayoutEffect(
    () => () => {
      isOver.current = true
    },
    [],
  )
  async function close() {
    if (isSending()) return notify(common('isSending'), { about: 'sending' })
    if (isDirty(before) && !(await askToLeave(before))) return
    // A finished submit may have closed it already.
    if (!isOver.current) onClose()
  }
  return (
    <Dialog {...rest} onClose={close} typing>
      <CloseDialogContext.Provider value={close}>{children}</CloseDialogContext.Provider>
    </Dialog>
  )
}
