ALTER TABLE "staff" ADD COLUMN "invited_by_mail" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "staff" ADD COLUMN "accepted_by" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_accepted_by_users_id_fk" FOREIGN KEY ("accepted_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "staff_accepted" ON "staff" USING btree ("accepted_by") WHERE accepted_by is not null;