ALTER TABLE "mails" ADD COLUMN "recipient" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "cause" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "counted_at" bigint;--> statement-breakpoint
CREATE INDEX "mails_shop_counted" ON "mails" USING btree ("shop_id","counted_at") WHERE counted_at is not null;--> statement-breakpoint
CREATE INDEX "mails_recipient_counted" ON "mails" USING btree ("recipient","counted_at") WHERE counted_at is not null;--> statement-breakpoint
CREATE INDEX "mails_cause_counted" ON "mails" USING btree ("cause","counted_at") WHERE counted_at is not null and cause is not null;--> statement-breakpoint
CREATE INDEX "mails_counted" ON "mails" USING btree ("counted_at") WHERE recipient is not null;--> statement-breakpoint
CREATE INDEX "mails_dropped" ON "mails" USING btree ("shop_id","updated_at") WHERE status = 'DROPPED';