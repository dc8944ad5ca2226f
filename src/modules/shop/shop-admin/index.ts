export { type ShopAdminDeps, setShopStatus } from './service.ts'
