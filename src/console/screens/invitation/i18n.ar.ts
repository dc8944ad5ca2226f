import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'الانضمام إلى المتجر',
  text: 'تمت دعوتك للعمل في متجر. اختر كلمة مرور. إن كان لبريدك الإلكتروني حساب فأدخل كلمة مروره.',
  joined: 'سجّل الدخول لفتح {shop}.',
  join: 'انضمام',
  login: 'تسجيل الدخول',
  name: 'اسمك',
  nameHint: 'يظهر لموظفي المتجر',
  password: 'كلمة المرور',
  passwordHint: '10 أحرف على الأقل',
} satisfies Translation<typeof en>
