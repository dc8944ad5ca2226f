ALTER TABLE "customers" ADD COLUMN "email_proven_at" bigint;--> statement-breakpoint
CREATE INDEX "customers_shop" ON "customers" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "customers_shop_name" ON "customers" USING btree ("shop_id",lower("name"));--> statement-breakpoint
CREATE INDEX "orders_guests" ON "orders" USING btree ("shop_id",lower("email"),"id") WHERE customer_id is null;