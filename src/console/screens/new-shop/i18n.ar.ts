import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  setupTitle: 'مرحبًا بك في souk',
  setupText: 'أنشئ حسابك ومتجرك.',
  setupToken: 'رمز الإعداد',
  setupTokenHint: 'الجزء الذي يلي # في رابط الإعداد الذي طبعه souk في الطرفية',
  setupGo: 'إنشاء المتجر',
  email: 'البريد الإلكتروني',
  password: 'كلمة المرور',
  passwordHint: '10 أحرف على الأقل',
  shop: 'متجرك',
  title: 'اسم المتجر',
  handleHint: 'جزء من عنوان المتجر: أحرف لاتينية صغيرة وأرقام وواصلات. لا يمكن تغييره لاحقًا.',
  choose: 'اختر…',
  currency: 'العملة',
  currencyHint: 'يمكن تغييرها إلى أن تضيف أسعارًا',
  create: 'إنشاء متجر',
  createText: 'يبدأ المتجر في وضع الاختبار، وأنت مالكه.',
  created: 'تم إنشاء المتجر',
  notAllowed: 'لا يمكنك إنشاء متاجر هنا',
  notAllowedText: 'اسأل مسؤول هذا النظام.',
} satisfies Translation<typeof en>
